package history

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// GetValidation answers with the effect of applying the objects of a dry run,
// according to the API server and with the caller's own permissions. Helm's own
// dry run does not ask the API server.
func (s *Server) GetValidation(c *gin.Context) error {
	ref, cluster, err := s.release(c)
	if err != nil {
		return err
	}
	ctx, caller := c.Request.Context(), authz.CallerOf(c)
	rendering, err := s.rendering(ctx, caller, ref, c.Param("session"))
	if err != nil {
		return err
	}
	query := drift.ValidationQuery{Release: ref, Manifest: renderedText(rendering), Masker: s.Masker(ref).Within(ctx), Credentials: caller.Credentials}
	if s.MayReveal(ctx, caller, ref) != nil {
		// The caller may have guessed a secret in the manifest. Neither its mask nor
		// a comparison with the release's secrets may tell them that it is right.
		query.Masker = s.ownMasker(ref, c.Param("session")).Within(ctx)
		return s.writeValidation(c, cluster, query)
	}
	// Only the release's record shows which values of the live objects are
	// secret. Without that record, nothing of them is shown.
	if err := cluster.CheckSyncedIn(ref.Namespace); err != nil {
		return err
	}
	if revision, err := cluster.LiveRevision(ref); err == nil {
		record, err := s.record(ctx, caller, revisionOf(ref, revision))
		if err != nil {
			return err
		}
		query.Known = []mask.Source{mask.FromRecord(record)}
	}
	return s.writeValidation(c, cluster, query)
}

func (s *Server) writeValidation(c *gin.Context, cluster Cluster, query drift.ValidationQuery) error {
	found, err := cluster.Comparer.Validate(c.Request.Context(), query)
	if err != nil {
		return cluster.Explain(err)
	}
	httpapi.WriteJSON(c, http.StatusOK, found)
	return nil
}

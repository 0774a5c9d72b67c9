package history

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// GetValidation answers with what applying the objects of a dry run would do,
// according to the API server and with the caller's own rights. Helm's own dry
// run does not ask it.
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
	query := drift.ValidationQuery{Release: ref, Manifest: renderedText(rendering), Masker: s.Masker(ref), Credentials: caller.Credentials}
	// The live objects may hold secrets that only the release's record marks as
	// such, so nothing of them is shown without that record.
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
	found, err := cluster.Comparer.Validate(ctx, query)
	if err != nil {
		return cluster.Explain(err)
	}
	httpapi.WriteJSON(c, http.StatusOK, found)
	return nil
}

package history

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// reveals reports whether a request asks for unmasked secrets. It fails if the
// caller may not see those of the release. Call it for every release of a
// request.
func (s *Server) reveals(c *gin.Context, caller *authz.Caller, ref helmtrail.ReleaseRef) (bool, error) {
	asked, err := httpapi.QueryBool(c, "reveal")
	if err != nil || !asked {
		return false, err
	}
	if err := s.MayReveal(c.Request.Context(), caller, ref); authz.Undecided(err) {
		return false, err
	} else if err != nil {
		return false, errors.Join(httpapi.Forbidden("You don't have permission to see the secrets of namespace "+ref.Namespace+"."), err)
	}
	return true, nil
}

// Reveal records that secrets are about to be shown to the caller. If it fails,
// they must not be shown.
func (s *Server) Reveal(ctx context.Context, caller *authz.Caller, reveal audit.Reveal) error {
	reveal.User = caller.User.Name
	at := reveal.Release
	if s.Trail != nil {
		if err := s.Trail.Reveal(ctx, reveal); err != nil {
			s.Logger.Error("secrets were not revealed, because the trail could not record it", "cluster", at.Cluster, "namespace", at.Namespace, "release", at.Name, "error", err)
			return httpapi.Unavailable("Secrets are shown only after the trail has recorded it, which failed; the server's log says why.")
		}
	}
	s.Logger.Info("secrets revealed", "cluster", at.Cluster, "namespace", at.Namespace, "release", at.Name, "revision", reveal.Revision,
		"lineage", reveal.Lineage, "what", reveal.What, "user", reveal.User, "client", caller.Address)
	return nil
}

package history

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// Comparer asks the API server for the state of a release's objects, and for the
// effect of applying a manifest. It changes nothing. Its methods may be called
// concurrently.
type Comparer interface {
	// Drift compares a record's objects with the live ones.
	Drift(ctx context.Context, query drift.Query) (*drift.Report, error)
	// Validate returns what applying a rendered manifest would do.
	Validate(ctx context.Context, query drift.ValidationQuery) (*drift.Validation, error)
}

// GetDrift compares the objects in a revision with the live ones, with the caller's own
// permissions.
func (s *Server) GetDrift(c *gin.Context) error {
	ref, cluster, err := s.release(c)
	if err != nil {
		return err
	}
	at := revisionOf(ref, 0)
	if text := c.Query("revision"); text != "" {
		at.Revision, err = revisionNumber("revision", text)
	} else {
		at.Revision, err = cluster.LiveRevision(ref)
	}
	if err != nil {
		return err
	}
	ctx, caller := c.Request.Context(), authz.CallerOf(c)
	query := drift.Query{Release: ref, Masker: s.Masker(ref).Within(ctx), Credentials: caller.Credentials}
	reveals, err := s.reveals(c, caller, ref)
	if err != nil {
		return err
	}
	if query.Record, err = s.record(ctx, caller, at); err != nil {
		return err
	}
	if reveals {
		if err := s.Reveal(ctx, caller, at.reveal("drift")); err != nil {
			return err
		}
		query.Masker = nil
		c.Header("Cache-Control", "no-store")
	}
	found, err := cluster.Comparer.Drift(ctx, query)
	if err != nil {
		return cluster.Explain(err)
	}
	found.Revision = at.Revision
	httpapi.WriteJSON(c, http.StatusOK, found)
	return nil
}

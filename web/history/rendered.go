package history

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/web/internal/authz"
)

// GetRendered answers with the masked manifest that a dry run rendered.
func (s *Server) GetRendered(c *gin.Context) error {
	ref, _, err := s.release(c)
	if err != nil {
		return err
	}
	rendering, err := s.rendering(c.Request.Context(), authz.CallerOf(c), ref, c.Param("session"))
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "application/yaml", []byte(renderedText(rendering)))
	return nil
}

// rendering returns the result of a session's dry run, masked.
func (s *Server) rendering(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef, session string) (helmtrail.Rendering, error) {
	if err := s.CheckSession(ctx, caller, ref, session); err != nil {
		return helmtrail.Rendering{}, err
	}
	return s.Sessions.Rendered(ctx, ref, session)
}

// renderedRecord returns the result of a dry run in the form of a record.
func (s *Server) renderedRecord(ctx context.Context, caller *authz.Caller, at RevisionRef) (*decoder.Record, error) {
	rendering, err := s.rendering(ctx, caller, at.release(), at.Session)
	if err != nil {
		return nil, err
	}
	return &decoder.Record{SecretNamespace: at.Namespace, Manifest: rendering.Manifest, Hooks: rendering.Hooks, Notes: rendering.Notes}, nil
}

// renderedText returns the manifest of a dry run, followed by its hooks.
func renderedText(rendering helmtrail.Rendering) string {
	return rendering.Manifest + parts.HooksText(rendering.Hooks)
}

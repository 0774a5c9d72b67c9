package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/stream"
)

// renderedManifest answers with what a dry run has rendered, masked.
func (s *Server) renderedManifest(c *gin.Context) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := s.knowsSession(c, ref, c.Param("session")); err != nil {
		return err
	}
	rendering, err := s.options.Operations.Rendered(c.Request.Context(), ref, c.Param("session"))
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "application/yaml", []byte(renderedText(rendering)))
	return nil
}

// renderedText is the manifest of a dry run, and its hooks behind it.
func renderedText(rendering stream.Rendering) string {
	return rendering.Manifest + parts.HooksText(rendering.Hooks)
}

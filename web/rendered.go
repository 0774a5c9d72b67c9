package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/stream"
)

// renderedManifest answers with what a dry run has rendered, masked.
func (s *Server) renderedManifest(c *gin.Context) error {
	_, rendering, err := s.rendering(c)
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "application/yaml", []byte(renderedText(rendering)))
	return nil
}

// rendering is what the dry run of a request has rendered, and the release's name.
func (s *Server) rendering(c *gin.Context) (stream.ReleaseRef, stream.Rendering, error) {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return ref, stream.Rendering{}, err
	}
	if err := s.knowsSession(c, ref, c.Param("session")); err != nil {
		return ref, stream.Rendering{}, err
	}
	rendering, err := s.options.Operations.Rendered(c.Request.Context(), ref, c.Param("session"))
	return ref, rendering, err
}

// renderedText is the manifest of a dry run, and its hooks behind it.
func renderedText(rendering stream.Rendering) string {
	return rendering.Manifest + parts.HooksText(rendering.Hooks)
}

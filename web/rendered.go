package web

import (
	"net/http"

	"github.com/gin-gonic/gin"
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
	manifest, err := s.options.Operations.Rendered(c.Request.Context(), ref, c.Param("session"))
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "application/yaml", manifest)
	return nil
}

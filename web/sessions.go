package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

type cancelBody struct {
	Force bool `json:"force"`
}

// cancel asks for the end of a session and answers 202 with the session as it
// is then; the stream tells when it has ended.
func (s *Server) cancel(c *gin.Context) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	var body cancelBody
	if c.Request.ContentLength != 0 {
		if err := decodeBody(c, &body); err != nil {
			return err
		}
	}
	id := c.Param("session")
	if err := s.knowsSession(c, ref, id); err != nil {
		return err
	}
	if err := s.options.Operations.Cancel(c.Request.Context(), ref, id, body.Force); err != nil {
		return err
	}
	session, err := s.options.Operations.Session(c.Request.Context(), ref, id)
	if err != nil {
		return err
	}
	writeJSON(c, http.StatusAccepted, session)
	return nil
}

type recoverBody struct {
	Strategy        stream.Strategy `json:"strategy"`
	ResourceVersion string          `json:"resourceVersion"`
	Options         stream.Options  `json:"options"`
}

// recoverRelease starts a session that brings a stuck release back.
func (s *Server) recoverRelease(c *gin.Context) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	var body recoverBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	request := stream.Request{
		Release: ref, Options: body.Options,
		Recovery: &stream.Recovery{Strategy: body.Strategy, ResourceVersion: body.ResourceVersion},
	}
	if err := grantOf(c).lend(&request); err != nil {
		return err
	}
	session, err := s.options.Operations.Recover(c.Request.Context(), request)
	if err != nil {
		return err
	}
	s.writeAccepted(c, session)
	return nil
}

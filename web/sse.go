package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// defaultTakeWithin is how long a reader may take nothing before it is cut.
	defaultTakeWithin = 30 * time.Second
	// portion is what a reader must take within that time, in bytes. A long
	// replay to a slow reader is many portions, so it is not cut while it goes on.
	portion = 16 << 10
)

// paced writes to one response at the pace of its reader. It belongs to one
// goroutine.
type paced struct {
	w          http.ResponseWriter
	control    *http.ResponseController
	takeWithin time.Duration
}

// openPaced sends the headers of an answer that is written bit by bit. It is
// written to the response itself, past Gin's writer, which hides the errors of
// a flush. Nothing on the way may collect it.
func (s *Server) openPaced(c *gin.Context, contentType string) *paced {
	h := c.Writer.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	var w http.ResponseWriter = c.Writer
	if inner, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		w = inner.Unwrap()
	}
	return &paced{w: w, control: http.NewResponseController(w), takeWithin: s.takeWithin}
}

// openSSE begins a stream of Server-Sent Events with how long a client should
// wait before it connects again.
func (s *Server) openSSE(c *gin.Context) (*paced, error) {
	out := s.openPaced(c, "text/event-stream")
	// Clients that were cut together do not all come back at once.
	return out, out.write(fmt.Appendf(nil, "retry: %d\n\n", 1000+rand.IntN(2000)))
}

// write sends frames at once. It fails when the reader is gone, or has taken
// nothing for takeWithin.
func (p *paced) write(frames ...[]byte) error {
	for _, frame := range frames {
		for len(frame) > 0 {
			n := min(len(frame), portion)
			if err := p.control.SetWriteDeadline(time.Now().Add(p.takeWithin)); err != nil {
				return fmt.Errorf("set the deadline of a stream: %w", err)
			}
			if _, err := p.w.Write(frame[:n]); err != nil {
				return err
			}
			frame = frame[n:]
		}
	}
	return p.control.Flush()
}

// streamContext ends with the request, when the server is closed and when the
// cluster is served no more. The returned function must be called.
func (s *Server) streamContext(c *gin.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.Request.Context())
	unlink := context.AfterFunc(s.closing, cancel)
	stay := func() bool { return true }
	if cluster, err := s.cluster(c); err == nil {
		stay = context.AfterFunc(cluster.gone, cancel)
	} else {
		cancel()
	}
	return ctx, func() {
		unlink()
		stay()
		cancel()
	}
}

package web

import (
	"math/rand/v2"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/internal/sse"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// defaultTakeWithin is how long a reader may take nothing before it is cut.
const defaultTakeWithin = 30 * time.Second

// openPaced begins an answer that is sent bit by bit.
func (s *Server) openPaced(c *gin.Context, contentType string) *httpapi.Paced {
	return httpapi.OpenPaced(c, contentType, s.takeWithin)
}

// openSSE begins a stream of Server-Sent Events, and says how long a client
// should wait before it connects again.
func (s *Server) openSSE(c *gin.Context) (*httpapi.Paced, error) {
	out := s.openPaced(c, "text/event-stream")
	// Clients that are cut together should not all come back at once.
	return out, out.Write(sse.AppendRetry(nil, 1000+rand.IntN(2000)))
}

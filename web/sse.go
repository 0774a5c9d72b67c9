package web

import (
	"math/rand/v2"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/internal/sse"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// defaultTakeWithin is how long a reader may accept nothing before it is disconnected.
const defaultTakeWithin = 30 * time.Second

// openPaced starts a response that is sent in parts.
func (s *Server) openPaced(c *gin.Context, contentType string) *httpapi.Paced {
	return httpapi.OpenPaced(c, contentType, s.takeWithin)
}

// openSSE starts a stream of Server-Sent Events, and sends the client's delay
// before it reconnects.
func (s *Server) openSSE(c *gin.Context) (*httpapi.Paced, error) {
	out := s.openPaced(c, "text/event-stream")
	// Clients that are disconnected together should not all reconnect at once.
	return out, out.Write(sse.AppendRetry(nil, 1000+rand.IntN(2000)))
}

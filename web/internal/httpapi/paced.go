package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// portion is the number of bytes that a reader must accept within its time. A
// long replay to a slow reader consists of many portions, so it continues while
// it makes progress.
const portion = 16 << 10

// Paced writes one response at the pace of its reader. It belongs to one
// goroutine.
type Paced struct {
	w       http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// OpenPaced sends the headers of a response that is sent in parts. The reader is
// disconnected if it accepts nothing within the given time. Paced bypasses Gin's
// writer, which hides errors of a flush, and asks proxies not to buffer.
func OpenPaced(c *gin.Context, contentType string, within time.Duration) *Paced {
	h := c.Writer.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", Revalidate)
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	var w http.ResponseWriter = c.Writer
	if inner, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		w = inner.Unwrap()
	}
	return &Paced{w: w, control: http.NewResponseController(w), within: within}
}

// Write sends data at once. It fails if the reader is gone or has accepted
// nothing for too long.
func (p *Paced) Write(data ...[]byte) error {
	for _, rest := range data {
		for len(rest) > 0 {
			n := min(len(rest), portion)
			if err := p.control.SetWriteDeadline(time.Now().Add(p.within)); err != nil {
				return fmt.Errorf("set the deadline of a stream: %w", err)
			}
			if _, err := p.w.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return p.control.Flush()
}

package polling

import (
	"context"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

const (
	// maxWait bounds ?wait=. Most proxies close a connection after a minute.
	maxWait = 55 * time.Second
	// lookAgain is the time after which a waiting client's answer is computed
	// again without a reported change, because parts of it depend on the time.
	lookAgain = 3 * time.Second
)

// Poll describes a read that a client may wait for.
type Poll struct {
	// About is what the client waits for.
	About Topic
	// Key is the key of the shared answer; "" if the answer depends on the caller.
	Key string
	// Read computes the answer.
	Read func(context.Context) (*Answer, error)
	// Reveal is called before a body with secrets is written; if it fails,
	// nothing is written. It is nil for answers without secrets. A 304 reveals
	// nothing, because the ETag depends on the releases' states and not on the
	// body.
	Reveal func() error
}

// Poll answers a read with JSON, or with 304 if the client already has it. With
// ?wait= and If-None-Match it waits until the answer changes, the time is over,
// or the Hub is done. It fails if the caller has lost the permission by then.
func (h *Hub) Poll(c *gin.Context, p Poll) error {
	wait, err := parseWait(c.Query("wait"))
	if err != nil {
		return err
	}
	known := c.GetHeader("If-None-Match")
	ctx := c.Request.Context()
	if wait == 0 || known == "" {
		a, err := h.Shared(ctx, p.Key, p.Read)
		if err != nil {
			return err
		}
		return a.write(c, known, p.Reveal)
	}
	defer h.join(p.About)()
	over, again := time.NewTimer(wait), time.NewTicker(lookAgain)
	defer over.Stop()
	defer again.Stop()
	for {
		changed := h.next(p.About)
		a, err := h.Shared(ctx, p.Key, p.Read)
		if err != nil {
			return err
		}
		if !httpapi.MatchesETag(known, a.etag) {
			if err := authz.CallerOf(c).Recheck(ctx); err != nil {
				return err
			}
			return a.write(c, known, p.Reveal)
		}
		select {
		case <-changed:
		case <-again.C:
		case <-over.C:
			return a.write(c, known, p.Reveal)
		case <-h.done:
			return a.write(c, known, p.Reveal)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// parseWait returns how long a client wants to wait, at most maxWait, or 0.
func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0, httpapi.BadField("wait", "wait must be a number of seconds.")
	}
	return min(time.Duration(seconds)*time.Second, maxWait), nil
}

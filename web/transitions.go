package web

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// clusterBeat is the time between a cluster stream's heartbeats.
const clusterBeat = 10 * time.Second

// streamTransitions sends every transition of a cluster, from now on or from a
// position on.
func (s *Server) streamTransitions(c *gin.Context) error {
	cluster, err := s.cluster(c)
	if err != nil {
		return err
	}
	since := c.GetHeader("Last-Event-ID")
	if since == "" {
		since = c.Query("since")
	}
	if since == "" {
		since = cluster.feed.position()
	}
	number, known := cluster.feed.parse(since)

	ctx, cancel := s.streamContext(c)
	defer cancel()
	out, err := s.openSSE(c)
	if err != nil {
		return nil // The reader is gone.
	}
	s.meter.clusterStreams.Add(1)
	defer s.meter.clusterStreams.Add(-1)
	readable := &readable{grant: grantOf(c), need: needList}
	beat := time.NewTicker(clusterBeat)
	defer beat.Stop()
	if out.write(beatFrame()) != nil {
		return nil
	}
	for {
		told, head, kept, wake := cluster.feed.after(number)
		frames, err := readable.of(ctx, told)
		if err != nil {
			return nil // The reader may come again and be told why.
		}
		if !known || !kept {
			frames, known = [][]byte{cluster.feed.resetFrame(head)}, true
		}
		number = head
		if len(frames) > 0 && out.write(frames...) != nil {
			return nil
		}
		select {
		case <-wake:
		case <-beat.C:
			if readable.grant.still(ctx) != nil || out.write(beatFrame()) != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func beatFrame() []byte {
	return sseFrame("", typeHeartbeat, clusterHeartbeat{typeHeartbeat, time.Now().UTC()})
}

// readable are the namespaces of which the reader of a stream may see something.
type readable struct {
	grant *grant
	// need is what the reader needs there.
	need need
	// namespaces are the answers of this moment.
	namespaces map[string]bool
	asked      time.Time
}

// of returns the frames that may be seen, in order. It fails when that cannot
// be found out, or when the reader is nobody any more.
func (r *readable) of(ctx context.Context, told []feedFrame) ([][]byte, error) {
	if err := r.grant.still(ctx); err != nil {
		return nil, err
	}
	frames := make([][]byte, 0, len(told))
	for _, frame := range told {
		allowed, err := r.may(ctx, frame.namespace)
		if err != nil {
			return nil, err
		}
		if allowed {
			frames = append(frames, frame.data)
		}
	}
	return frames, nil
}

// may tells whether something of a namespace, "" for the whole cluster, may be
// seen. It fails like of.
func (r *readable) may(ctx context.Context, namespace string) (bool, error) {
	if r.namespaces == nil || time.Since(r.asked) >= recheckAfter {
		r.namespaces, r.asked = map[string]bool{}, time.Now()
	}
	if err := r.grant.still(ctx); err != nil {
		return false, err
	}
	allowed, known := r.namespaces[namespace]
	if !known {
		err := r.grant.allows(ctx, r.need, namespace)
		if _, denied := errors.AsType[*stream.ForbiddenError](err); err != nil && !denied {
			return false, err
		}
		allowed = err == nil
		r.namespaces[namespace] = allowed
	}
	return allowed, nil
}

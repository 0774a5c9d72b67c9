package web

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
)

// clusterBeat is the interval of a cluster stream's heartbeats.
const clusterBeat = 10 * time.Second

// streamTransitions sends every transition of a cluster, starting now or at a
// given position.
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
		since = cluster.Feed.Position()
	}
	number, known := cluster.Feed.Parse(since)

	ctx, cancel := cluster.Context(c.Request.Context())
	defer cancel()
	out, err := s.openSSE(c)
	if err != nil {
		return nil // The reader is gone.
	}
	s.meter.clusterStreams.Add(1)
	defer s.meter.clusterStreams.Add(-1)
	filter := authz.NewFilter(authz.CallerOf(c), authz.List)
	beat := time.NewTicker(clusterBeat)
	defer beat.Stop()
	if out.Write(clusters.Heartbeat()) != nil {
		return nil
	}
	for {
		stored, head, kept, wake := cluster.Feed.After(number)
		frames, err := visibleFrames(ctx, filter, stored)
		if err != nil {
			return nil // A reader that reconnects gets the reason.
		}
		if !known || !kept {
			frames, known = [][]byte{cluster.Feed.Reset(head)}, true
		}
		number = head
		if len(frames) > 0 && out.Write(frames...) != nil {
			return nil
		}
		select {
		case <-wake:
		case <-beat.C:
			if filter.Recheck(ctx) != nil || out.Write(clusters.Heartbeat()) != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// visibleFrames returns the frames that a reader may see, in order. It fails if
// the API server does not answer, or if the reader has lost their permission.
func visibleFrames(ctx context.Context, filter *authz.Filter, all []clusters.Frame) ([][]byte, error) {
	if err := filter.Recheck(ctx); err != nil {
		return nil, err
	}
	frames := make([][]byte, 0, len(all))
	for _, frame := range all {
		allowed, err := filter.Allows(ctx, frame.Namespace)
		if err != nil {
			return nil, err
		}
		if allowed {
			frames = append(frames, frame.Data)
		}
	}
	return frames, nil
}

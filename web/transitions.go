package web

import (
	"time"

	"github.com/gin-gonic/gin"
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
	beat := time.NewTicker(clusterBeat)
	defer beat.Stop()
	if out.write(beatFrame()) != nil {
		return nil
	}
	for {
		frames, head, kept, wake := cluster.feed.after(number)
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
			if out.write(beatFrame()) != nil {
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

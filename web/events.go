package web

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// streamSession sends each of a session's events exactly once and in order: first
// the stored ones, then the live ones, up to the terminal event.
func (s *Server) streamSession(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	caller := authz.CallerOf(c)
	last := c.GetHeader("Last-Event-ID")
	if last == "" {
		last = c.Query("lastEventId")
	}
	log, id, err := s.openLog(c, ref, last)
	if err != nil {
		return err
	}
	if err := s.history.CheckSession(c.Request.Context(), caller, ref, id); err != nil {
		return err
	}
	after, reset := resumeAfter(log, id, c.Query("sessionId") != "", last)
	if head, ended := log.Head(); ended && after == head {
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
		return nil
	}

	ctx, cancel := cluster.Context(c.Request.Context())
	defer cancel()
	out, err := s.openSSE(c)
	if err != nil {
		return nil // The reader is gone.
	}
	s.meter.sessionStreams.Add(1)
	defer s.meter.sessionStreams.Add(-1)
	if reset {
		frame, err := stream.Frame(helmtrail.Event{Type: helmtrail.TypeReset, Time: time.Now(), SessionID: id})
		if err != nil || out.Write(frame) != nil {
			return nil
		}
	}
	cursor := log.Cursor(after)
	for {
		frames, err := cursor.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				s.logger.Error("a stream ended early", "session", id, "error", err)
			}
			return nil
		}
		if caller.Recheck(ctx) != nil || out.Write(frames) != nil {
			return nil
		}
	}
}

var errNoActiveSession = &httpapi.Error{
	Status: http.StatusNotFound, Code: httpapi.CodeNoActiveSession,
	Message: "No active session found. The operation may have completed.",
}

// openLog opens the log of the session in the request, otherwise of the running
// session. If no session is running, the one that the reader was following may
// have ended while the reader was disconnected. It then opens that one, so that
// the reader sees the end.
func (s *Server) openLog(c *gin.Context, ref helmtrail.ReleaseRef, last string) (*stream.Log, string, error) {
	id := c.Query("sessionId")
	if id == "" {
		id, _ = s.options.Operations.Active(ref)
	}
	if id != "" {
		log, err := s.options.Operations.Open(c.Request.Context(), ref, id)
		return log, id, err
	}
	if id, _, ok := parseEventID(last); ok && id != "" {
		log, err := s.options.Operations.Open(c.Request.Context(), ref, id)
		if !errors.Is(err, helmtrail.ErrNotFound) {
			return log, id, err
		}
	}
	return nil, "", errNoActiveSession
}

// resumeAfter returns the seq of the reader's last event, or 0. reset means that
// the id is invalid: malformed, of another session, or beyond the head. A seq
// without a session is accepted if the request names the session.
func resumeAfter(log *stream.Log, id string, named bool, last string) (after uint64, reset bool) {
	if last == "" {
		return 0, false
	}
	session, seq, ok := parseEventID(last)
	if !ok || session != id && (session != "" || !named) {
		return 0, true
	}
	if head, _ := log.Head(); seq > head {
		return 0, true
	}
	return seq, false
}

// parseEventID splits the id of a frame, <session>.<seq> or <seq> alone.
func parseEventID(text string) (session string, seq uint64, ok bool) {
	digits := text
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		session, digits = text[:dot], text[dot+1:]
		if session == "" {
			return "", 0, false
		}
	}
	// ParseUint accepts no sign, so -1 and +1 are malformed.
	seq, err := strconv.ParseUint(digits, 10, 64)
	return session, seq, err == nil
}

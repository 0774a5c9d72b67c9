package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// seesFormer tells whether the caller of a request may know of a release's
// lives in a namespace, or a cluster, of the same name that is no more. They
// are not for its new owners, but need the right for all namespaces. Without
// such lives it is false, and costs nothing. Where it is true, a stream or long
// poll ends with that right. It fails when it is not known yet whether a life is
// such a one, and that matters to the caller.
func (s *Server) seesFormer(c *gin.Context, ref stream.ReleaseRef) (bool, error) {
	if s.options.Trail == nil {
		return false, nil
	}
	lineages := s.options.Trail.Lineages(ref)
	if !slices.ContainsFunc(lineages, isFormer) {
		return false, nil
	}
	err := grantOf(c).allows(c.Request.Context(), needGet, "")
	if err != nil && refuses(err) {
		if slices.ContainsFunc(lineages, func(l stream.Lineage) bool { return l.Unsure }) {
			return false, &apiError{
				status: http.StatusServiceUnavailable, code: codeUnavailable,
				message: "The namespaces of cluster " + ref.Cluster + " are still being read.",
			}
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	grantOf(c).relyOn(needGet, "")
	return true, nil
}

func isFormer(l stream.Lineage) bool { return !l.Current }

// formerKey is answerKey for an answer that is another one for those who may
// know of former lives.
func formerKey(c *gin.Context, former bool) string {
	if former {
		return answerKey(c) + " former"
	}
	return answerKey(c)
}

// formerUntil is when the last of a release's lives in a former namespace was
// last heard of; zero without one.
func (s *Server) formerUntil(ref stream.ReleaseRef) (until time.Time) {
	if s.options.Trail == nil {
		return until
	}
	for _, l := range s.options.Trail.Lineages(ref) {
		if l.Current {
			continue
		}
		for _, r := range l.Revisions {
			if r.Seen.After(until) {
				until = r.Seen
			}
		}
	}
	return until
}

// currentSessions are the sessions of a release but for those that went on
// while it lived in a former namespace.
func (s *Server) currentSessions(ref stream.ReleaseRef, sessions []stream.Session) []stream.Session {
	until := s.formerUntil(ref)
	return slices.DeleteFunc(sessions, func(session stream.Session) bool { return session.StartedAt.Before(until) })
}

// knowsSession fails with stream.ErrNotFound when the caller of a request may
// not know of a session, since it went on in a former namespace.
func (s *Server) knowsSession(c *gin.Context, ref stream.ReleaseRef, id string) error {
	until := s.formerUntil(ref)
	if until.IsZero() {
		return nil
	}
	if former, err := s.seesFormer(c, ref); former || err != nil {
		return err
	}
	session, err := s.options.Operations.Session(c.Request.Context(), ref, id)
	if err == nil && session.StartedAt.Before(until) {
		err = fmt.Errorf("session %s: %w", id, stream.ErrNotFound)
	}
	return err
}

// sessions are those of a release that may be shown, newest first.
func (s *Server) sessions(ctx context.Context, ref stream.ReleaseRef, former bool) ([]stream.Session, error) {
	sessions, err := s.options.Operations.Sessions(ctx, ref)
	if err != nil || former {
		return sessions, err
	}
	return s.currentSessions(ref, sessions), nil
}

package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

// A former lineage belongs to a deleted namespace, or cluster, of the same name. The
// namespace's new owners must not see it, so it needs permission for all namespaces.

func isFormer(l audit.Lineage) bool { return !l.Current }

// SeesFormer reports whether a release has former lineages and the caller may see
// them. If so, streams and long polls end with that permission. SeesFormer fails
// if it is still unknown whether a lineage is a former one and the result depends
// on it.
func (s *Server) SeesFormer(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef) (bool, error) {
	if s.Trail == nil {
		return false, nil
	}
	lineages := s.Trail.Lineages(ref)
	if !slices.ContainsFunc(lineages, isFormer) {
		return false, nil
	}
	err := caller.Allows(ctx, authz.Get, "")
	if err != nil && authz.Refuses(err) {
		if slices.ContainsFunc(lineages, func(l audit.Lineage) bool { return l.Unsure }) {
			return false, httpapi.Unavailable("The namespaces of cluster " + ref.Cluster + " are still being read.")
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	caller.AlsoRequire(authz.Get, "")
	return true, nil
}

// Key returns the key of an answer that differs for callers who may see former
// lineages.
func Key(c *gin.Context, former bool) string {
	if former {
		return polling.Key(c) + " former"
	}
	return polling.Key(c)
}

// formerUntil returns when a release's former lineages were last seen, or the
// zero time.
func (s *Server) formerUntil(ref helmtrail.ReleaseRef) (until time.Time) {
	if s.Trail == nil {
		return until
	}
	for _, l := range s.Trail.Lineages(ref) {
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

// CheckSession fails with helmtrail.ErrNotFound if a session belongs to a former
// lineage that the caller may not see.
func (s *Server) CheckSession(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef, id string) error {
	until := s.formerUntil(ref)
	if until.IsZero() {
		return nil
	}
	if former, err := s.SeesFormer(ctx, caller, ref); former || err != nil {
		return err
	}
	session, err := s.Sessions.Session(ctx, ref, id)
	if err == nil && session.StartedAt.Before(until) {
		err = fmt.Errorf("session %s: %w", id, helmtrail.ErrNotFound)
	}
	return err
}

// VisibleSessions returns the sessions of a release, newest first. Without
// former it omits those of former lineages.
func (s *Server) VisibleSessions(ctx context.Context, ref helmtrail.ReleaseRef, former bool) ([]helmtrail.Session, error) {
	sessions, err := s.Sessions.Sessions(ctx, ref)
	if err != nil || former {
		return sessions, err
	}
	until := s.formerUntil(ref)
	return slices.DeleteFunc(sessions, func(session helmtrail.Session) bool { return session.StartedAt.Before(until) }), nil
}

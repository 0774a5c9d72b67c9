package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/history"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

type sessionList struct {
	Items    []helmtrail.Session `json:"items"`
	Continue string              `json:"continue,omitempty"`
}

// listSessions answers with one page of a release's sessions, newest first.
func (s *Server) listSessions(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	limit, err := httpapi.Limit(c)
	if err != nil {
		return err
	}
	former, err := s.history.SeesFormer(c.Request.Context(), authz.CallerOf(c), ref)
	if err != nil {
		return err
	}
	return cluster.Poll(c, polling.Poll{
		About: polling.Topic{Namespace: ref.Namespace, Name: ref.Name}, Key: history.Key(c, former),
		Read: func(ctx context.Context) (*polling.Answer, error) {
			return s.readSessions(ctx, ref, former, limit, c.Query("continue"))
		},
	})
}

func (s *Server) readSessions(ctx context.Context, ref helmtrail.ReleaseRef, former bool, limit int, after string) (*polling.Answer, error) {
	sessions, err := s.history.VisibleSessions(ctx, ref, former)
	if err != nil {
		return nil, err
	}
	if after != "" {
		at := slices.IndexFunc(sessions, func(session helmtrail.Session) bool { return session.ID == after })
		if at < 0 {
			return nil, httpapi.BadContinue()
		}
		sessions = sessions[at+1:]
	}
	list := sessionList{Items: sessions}
	if len(sessions) > limit {
		list.Items, list.Continue = sessions[:limit], sessions[limit-1].ID
	}
	if list.Items == nil {
		list.Items = []helmtrail.Session{}
	}
	return polling.JSON(list), nil
}

// getSession answers with a session of the release. It answers 404 for a session
// of another release: the id alone gives no access.
func (s *Server) getSession(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	id := c.Param("session")
	if err := s.history.CheckSession(c.Request.Context(), authz.CallerOf(c), ref, id); err != nil {
		return err
	}
	return cluster.Poll(c, polling.Poll{
		About: polling.Topic{Namespace: ref.Namespace, Name: ref.Name}, Key: polling.Key(c),
		Read: func(ctx context.Context) (*polling.Answer, error) {
			session, err := s.options.Operations.Session(ctx, ref, id)
			if err != nil {
				return nil, err
			}
			return polling.JSON(session), nil
		},
	})
}

// cancel cancels a session and answers 202 with the session's present state. The
// stream reports its end.
func (s *Server) cancel(c *gin.Context) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	var body cancelBody
	if c.Request.ContentLength != 0 {
		if err := httpapi.DecodeBody(c, &body); err != nil {
			return err
		}
	}
	ctx, id := c.Request.Context(), c.Param("session")
	if err := s.history.CheckSession(ctx, authz.CallerOf(c), ref, id); err != nil {
		return err
	}
	if err := s.options.Operations.Cancel(ctx, ref, id, body.Force); err != nil {
		return err
	}
	session, err := s.options.Operations.Session(ctx, ref, id)
	if err != nil {
		return err
	}
	httpapi.WriteJSON(c, http.StatusAccepted, session)
	return nil
}

// watchSessions wakes the clients that wait for a release when one of its
// sessions starts or ends, until stop is called.
func (s *Server) watchSessions() (stop func()) {
	if s.options.Operations == nil {
		return func() {}
	}
	return s.options.Operations.ObserveSessions(func(release helmtrail.ReleaseRef) {
		if cluster := s.clusters.get(release.Cluster); cluster != nil {
			cluster.Changed(release.Namespace, release.Name)
		}
	})
}

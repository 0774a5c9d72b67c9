package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// accepted is the body of a 202.
type accepted struct {
	SessionID string            `json:"sessionId"`
	Release   stream.ReleaseRef `json:"release"`
	Events    string            `json:"events"`
	Page      string            `json:"page"`
}

func (s *Server) install(c *gin.Context) error {
	var body installBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	return s.startWithChart(c, stream.OperationInstall, body.Name, upgradeBody{
		Chart: body.Chart, Values: body.Values, ValuesYAML: body.ValuesYAML, Options: body.Options,
	})
}

func (s *Server) upgrade(c *gin.Context) error {
	var body upgradeBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	return s.startWithChart(c, stream.OperationUpgrade, c.Param("name"), body)
}

func (s *Server) startWithChart(c *gin.Context, operation stream.Operation, name string, body upgradeBody) error {
	values, err := mergeValues(body.Values, body.ValuesYAML)
	if err != nil {
		return err
	}
	if values, err = s.restoreValues(c, name, values); err != nil {
		return err
	}
	return s.start(c, name, stream.Request{
		Operation: operation, Chart: body.Chart, Values: values, Options: body.Options,
	})
}

func (s *Server) rollback(c *gin.Context) error {
	var body rollbackBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	return s.start(c, c.Param("name"), stream.Request{
		Operation: stream.OperationRollback, Revision: body.Revision, Options: body.Options,
	})
}

func (s *Server) uninstall(c *gin.Context) error {
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return &apiError{status: http.StatusBadRequest, code: codeBadRequest, message: "The query is not valid."}
	}
	options, err := decodeQuery(query)
	if err != nil {
		return err
	}
	return s.start(c, c.Param("name"), stream.Request{Operation: stream.OperationUninstall, Options: options})
}

// start hands a request to stream and answers 202 once the session is stored,
// before helm has done anything.
func (s *Server) start(c *gin.Context, name string, request stream.Request) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	ref.Name = name
	request.Release = ref
	if err := grantOf(c).lend(&request); err != nil {
		return err
	}
	session, err := s.options.Operations.Start(c.Request.Context(), request)
	if err != nil {
		return err
	}
	s.writeAccepted(c, session)
	return nil
}

// writeAccepted answers 202 with where the session can be watched.
func (s *Server) writeAccepted(c *gin.Context, session stream.Session) {
	ref := session.Release
	own := s.options.BasePath + releaseURL(ref)
	id := url.QueryEscape(session.ID)
	c.Header("Location", own+"/sessions/"+url.PathEscape(session.ID))
	writeJSON(c, http.StatusAccepted, accepted{
		SessionID: session.ID,
		Release:   ref,
		Events:    own + "/events?sessionId=" + id,
		Page:      s.options.BasePath + "/helm/events/" + segments(ref.Cluster, ref.Namespace, ref.Name) + "?sessionId=" + id,
	})
}

// releaseURL is the path of a release's address.
func releaseURL(ref stream.ReleaseRef) string {
	return "/" + segments(ref.Cluster, "namespaces", ref.Namespace, "releases", ref.Name)
}

func segments(parts ...string) string {
	escaped := ""
	for i, part := range parts {
		if i > 0 {
			escaped += "/"
		}
		escaped += url.PathEscape(part)
	}
	return escaped
}

type sessionList struct {
	Items    []stream.Session `json:"items"`
	Continue string           `json:"continue,omitempty"`
}

// listSessions answers with one page of a release's sessions, newest first.
func (s *Server) listSessions(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	limit, err := parseLimit(c.Query("limit"))
	if err != nil {
		return err
	}
	former, err := s.seesFormer(c, ref)
	if err != nil {
		return err
	}
	return s.poll(c, cluster, topic{ref.Namespace, ref.Name}, formerKey(c, former), func(ctx context.Context) (*answer, error) {
		return s.readSessions(ctx, ref, former, limit, c.Query("continue"))
	})
}

func (s *Server) readSessions(ctx context.Context, ref stream.ReleaseRef, former bool, limit int, after string) (*answer, error) {
	sessions, err := s.sessions(ctx, ref, former)
	if err != nil {
		return nil, err
	}
	if after != "" {
		at := slices.IndexFunc(sessions, func(session stream.Session) bool { return session.ID == after })
		if at < 0 {
			return nil, badRequest("continue", "continue must be what the page before said")
		}
		sessions = sessions[at+1:]
	}
	list := sessionList{Items: sessions}
	if len(sessions) > limit {
		list.Items, list.Continue = sessions[:limit], sessions[limit-1].ID
	}
	if list.Items == nil {
		list.Items = []stream.Session{}
	}
	return jsonAnswer(list), nil
}

// getSession answers with one session, and 404 when it is another release's:
// an id alone opens nothing.
func (s *Server) getSession(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := s.knowsSession(c, ref, c.Param("session")); err != nil {
		return err
	}
	return s.poll(c, cluster, topic{ref.Namespace, ref.Name}, answerKey(c), func(ctx context.Context) (*answer, error) {
		session, err := s.options.Operations.Session(ctx, ref, c.Param("session"))
		if err != nil {
			return nil, err
		}
		return jsonAnswer(session), nil
	})
}

package web

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// accepted is the body of a 202.
type accepted struct {
	SessionID string               `json:"sessionId"`
	Release   helmtrail.ReleaseRef `json:"release"`
	Events    string               `json:"events"`
	Page      string               `json:"page"`
}

func (s *Server) install(c *gin.Context) error {
	var body installBody
	if err := httpapi.DecodeBody(c, &body); err != nil {
		return err
	}
	return s.startWithChart(c, helmtrail.OperationInstall, body.Name, upgradeBody{
		Chart: body.Chart, Values: body.Values, ValuesYAML: body.ValuesYAML, Options: body.Options,
	})
}

func (s *Server) upgrade(c *gin.Context) error {
	var body upgradeBody
	if err := httpapi.DecodeBody(c, &body); err != nil {
		return err
	}
	return s.startWithChart(c, helmtrail.OperationUpgrade, c.Param("name"), body)
}

func (s *Server) startWithChart(c *gin.Context, operation helmtrail.Operation, name string, body upgradeBody) error {
	values, err := mergeValues(body.Values, body.ValuesYAML)
	if err != nil {
		return err
	}
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	ref.Name = name
	if err := s.charts.checkSource(c, body.Chart, ref.Namespace); err != nil {
		return err
	}
	if values, err = s.history.RestoreValues(c.Request.Context(), authz.CallerOf(c), ref, values); err != nil {
		return err
	}
	return s.start(c, name, helmtrail.Request{
		Operation: operation, Chart: body.Chart, Values: values, Options: body.Options,
	})
}

func (s *Server) rollback(c *gin.Context) error {
	var body rollbackBody
	if err := httpapi.DecodeBody(c, &body); err != nil {
		return err
	}
	return s.start(c, c.Param("name"), helmtrail.Request{
		Operation: helmtrail.OperationRollback, Revision: body.Revision, Options: body.Options,
	})
}

func (s *Server) uninstall(c *gin.Context) error {
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return httpapi.BadRequest("The query is not valid.")
	}
	var options helmtrail.Options
	if err := httpapi.DecodeQuery(query, &options); err != nil {
		return err
	}
	return s.start(c, c.Param("name"), helmtrail.Request{Operation: helmtrail.OperationUninstall, Options: options})
}

// start submits a request. It answers 202 after the session is stored and before
// helm does anything.
func (s *Server) start(c *gin.Context, name string, request helmtrail.Request) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	ref.Name = name
	request.Release = ref
	if err := authz.CallerOf(c).Lend(&request); err != nil {
		return err
	}
	if request.Options.DryRun != "" {
		// Without an answer of the API server the caller counts as one who may not.
		request.OwnMasks = s.mayReveal(c.Request.Context(), authz.CallerOf(c), ref) != nil
	}
	session, err := s.options.Operations.Start(c.Request.Context(), request)
	if err != nil {
		return err
	}
	s.writeAccepted(c, session)
	return nil
}

// recoverRelease starts a session that recovers a stuck release.
func (s *Server) recoverRelease(c *gin.Context) error {
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	var body recoverBody
	if err := httpapi.DecodeBody(c, &body); err != nil {
		return err
	}
	request := helmtrail.Request{
		Release: ref, Options: body.Options,
		Recovery: &helmtrail.Recovery{Strategy: body.Strategy, ResourceVersion: body.ResourceVersion},
	}
	if err := authz.CallerOf(c).Lend(&request); err != nil {
		return err
	}
	session, err := s.options.Operations.Recover(c.Request.Context(), request)
	if err != nil {
		return err
	}
	s.writeAccepted(c, session)
	return nil
}

// writeAccepted answers 202 with the URLs of the session.
func (s *Server) writeAccepted(c *gin.Context, session helmtrail.Session) {
	ref := session.Release
	own := s.options.BasePath + releaseURL(ref)
	id := url.QueryEscape(session.ID)
	c.Header("Location", own+"/sessions/"+url.PathEscape(session.ID))
	httpapi.WriteJSON(c, http.StatusAccepted, accepted{
		SessionID: session.ID,
		Release:   ref,
		Events:    own + "/events?sessionId=" + id,
		Page:      s.options.BasePath + "/helm/events/" + segments(ref.Cluster, ref.Namespace, ref.Name) + "?sessionId=" + id,
	})
}

// releaseURL returns the path of a release, without the base path.
func releaseURL(ref helmtrail.ReleaseRef) string {
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

package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// handler answers a request, or returns an error before it has written anything.
// Server.answer turns the error into a response.
type handler func(c *gin.Context) error

// route is a route and the permission that it needs.
type route struct {
	method, path string
	need         authz.Need
	query        []string // the names of the query's parameters
	handle       handler
}

// anyQuery is for routes whose handler or pages check the query.
var anyQuery = []string{"*"}

const (
	clusterPath   = "/:cluster"
	namespacePath = clusterPath + "/namespaces/:namespace/releases"
	releasePath   = namespacePath + "/:name"
)

// routes returns all routes. TestOpenAPIHasExactlyTheRoutes compares them with
// docs/openapi.yaml.
func (s *Server) routes() []route {
	all := []route{
		{http.MethodGet, "/clusters", authz.KnownUser, nil, s.listClusters},
		{http.MethodGet, "/charts", authz.Charts, []string{"cluster", "namespace", "q", "limit", "continue"}, s.charts.list},
		{http.MethodPost, "/charts", authz.Upload, []string{"cluster", "namespace"}, s.charts.upload},
		{http.MethodGet, "/charts/*ref", authz.Charts, []string{"repo", "version", "cluster", "namespace"}, s.charts.describe},
		{http.MethodGet, clusterPath + "/releases", authz.List, []string{"status", "q", "limit", "continue", "wait"}, s.listReleases},
		{http.MethodGet, clusterPath + "/releases/events", authz.List, []string{"since"}, s.streamTransitions},
		{http.MethodGet, clusterPath + "/trail", authz.Trail, []string{"namespace", "release", "since", "user", "verify", "limit", "continue"}, s.history.GetTrail},
		{http.MethodGet, namespacePath, authz.List, []string{"status", "q", "limit", "continue", "wait"}, s.listReleases},
		{http.MethodPost, namespacePath, authz.Create, nil, s.install},
		{http.MethodGet, releasePath, authz.Get, []string{"wait"}, s.getRelease},
		{http.MethodPut, releasePath, authz.Update, nil, s.upgrade},
		{http.MethodDelete, releasePath, authz.Delete, anyQuery, s.uninstall},
		{http.MethodPost, releasePath + "/rollback", authz.Update, nil, s.rollback},
		{http.MethodGet, releasePath + "/events", authz.Get, []string{"sessionId", "lastEventId"}, s.streamSession},
		{http.MethodGet, releasePath + "/resources", authz.Get, nil, s.listResources},
		{http.MethodGet, releasePath + "/history", authz.Get, []string{"lineage", "limit", "continue", "wait"}, s.history.List},
		{http.MethodGet, releasePath + "/revisions/:revision/:part", authz.Get, []string{"lineage", "all", "reveal"}, s.history.GetPart},
		{http.MethodGet, releasePath + "/diff", authz.Get, []string{"from", "to", "fromRelease", "fromNamespace", "fromCluster", "toSession", "lineage", "fromLineage", "toLineage", "part", "all", "reveal"}, s.history.GetComparison},
		{http.MethodGet, releasePath + "/drift", authz.Get, []string{"revision", "reveal"}, s.history.GetDrift},
		{http.MethodGet, releasePath + "/trail", authz.Get, []string{"lineage", "since", "user", "verify", "limit", "continue"}, s.history.GetReleaseTrail},
		{http.MethodGet, releasePath + "/sessions", authz.Get, []string{"limit", "continue", "wait"}, s.listSessions},
		{http.MethodGet, releasePath + "/sessions/:session", authz.Get, []string{"wait"}, s.getSession},
		{http.MethodGet, releasePath + "/sessions/:session/rendered", authz.Get, nil, s.history.GetRendered},
		{http.MethodGet, releasePath + "/sessions/:session/validation", authz.Get, nil, s.history.GetValidation},
		{http.MethodPost, releasePath + "/sessions/:session/cancel", authz.Update, nil, s.cancel},
		{http.MethodPost, releasePath + "/recover", authz.Update, nil, s.recoverRelease},
		{http.MethodPost, "/login", authz.Nothing, nil, s.login},
		{http.MethodPost, "/logout", authz.Nothing, []string{"cluster"}, s.logout},
		{http.MethodGet, "/me", authz.Nothing, nil, s.me},
		{http.MethodGet, "/metrics", authz.Metrics, nil, s.metrics},
		{http.MethodGet, "/healthz", authz.Nothing, nil, s.health},
		{http.MethodGet, "/readyz", authz.Nothing, nil, s.readiness},
		{http.MethodGet, "/openapi.yaml", authz.Nothing, nil, s.openAPI},
		{http.MethodGet, "/", authz.Nothing, anyQuery, s.root},
		{http.MethodGet, "/helm", authz.Nothing, anyQuery, s.root},
		{http.MethodGet, "/helm/*path", authz.Nothing, anyQuery, s.page},
	}
	for _, r := range s.console.Routes() {
		// The contract checks permissions itself, and ignores unknown parameters.
		all = append(all, route{r.Method, r.Path, authz.Nothing, anyQuery, r.Handle})
	}
	return all
}

func (s *Server) newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false // The redirect would be HTML.
	engine.Use(s.recoverPanics, s.protect)
	engine.NoRoute(s.answer(func(*gin.Context) error { return httpapi.ErrNoRoute }))
	engine.NoMethod(s.answer(func(*gin.Context) error { return httpapi.ErrMethod }))
	for _, r := range s.routes() {
		engine.Handle(r.method, r.path, s.answer(s.admitted(r)))
	}
	return engine
}

// releaseRef returns the release in a request's path, and its cluster.
func (s *Server) releaseRef(c *gin.Context) (helmtrail.ReleaseRef, *served, error) {
	cluster, err := s.cluster(c)
	if err != nil {
		return helmtrail.ReleaseRef{}, nil, err
	}
	return helmtrail.ReleaseRef{Cluster: cluster.ID, Namespace: c.Param("namespace"), Name: c.Param("name")}, cluster, nil
}

// cluster returns the cluster in a request's path.
func (s *Server) cluster(c *gin.Context) (*served, error) {
	return s.clusters.served(c.Param("cluster"))
}

// answer converts a handler to a Gin handler, which also writes the response to
// an error. The memory that the handler takes is returned when it ends.
func (s *Server) answer(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, end := s.options.Budget.Begin(c.Request.Context())
		defer end()
		c.Request = c.Request.WithContext(ctx)
		err := h(c)
		if err == nil {
			return
		}
		known, expected := httpapi.FromError(err)
		if !expected {
			if errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil {
				return // The client is gone.
			}
			s.logger.Error("request failed", "method", c.Request.Method, "route", c.FullPath(), "error", err)
		}
		writeError(c, known)
	}
}

// writeError answers with an error in the form of the API that the request belongs to.
func writeError(c *gin.Context, e *httpapi.Error) {
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "5")
	}
	if console.IsRequest(c.Request) {
		console.WriteError(c, e.Status, e.Message)
		return
	}
	httpapi.WriteError(c, e)
}

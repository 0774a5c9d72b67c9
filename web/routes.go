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
	handle       handler
}

const (
	clusterPath   = "/:cluster"
	namespacePath = clusterPath + "/namespaces/:namespace/releases"
	releasePath   = namespacePath + "/:name"
)

// routes returns all routes. TestOpenAPIHasExactlyTheRoutes compares them with
// docs/openapi.yaml.
func (s *Server) routes() []route {
	all := []route{
		{http.MethodGet, "/clusters", authz.KnownUser, s.listClusters},
		{http.MethodGet, "/charts", authz.Charts, s.charts.list},
		{http.MethodPost, "/charts", authz.Upload, s.charts.upload},
		{http.MethodGet, "/charts/*ref", authz.Charts, s.charts.describe},
		{http.MethodGet, clusterPath + "/releases", authz.List, s.listReleases},
		{http.MethodGet, clusterPath + "/releases/events", authz.List, s.streamTransitions},
		{http.MethodGet, clusterPath + "/trail", authz.Trail, s.history.GetTrail},
		{http.MethodGet, namespacePath, authz.List, s.listReleases},
		{http.MethodPost, namespacePath, authz.Create, s.install},
		{http.MethodGet, releasePath, authz.Get, s.getRelease},
		{http.MethodPut, releasePath, authz.Update, s.upgrade},
		{http.MethodDelete, releasePath, authz.Delete, s.uninstall},
		{http.MethodPost, releasePath + "/rollback", authz.Update, s.rollback},
		{http.MethodGet, releasePath + "/events", authz.Get, s.streamSession},
		{http.MethodGet, releasePath + "/resources", authz.Get, s.listResources},
		{http.MethodGet, releasePath + "/history", authz.Get, s.history.List},
		{http.MethodGet, releasePath + "/revisions/:revision/:part", authz.Get, s.history.GetPart},
		{http.MethodGet, releasePath + "/diff", authz.Get, s.history.GetComparison},
		{http.MethodGet, releasePath + "/drift", authz.Get, s.history.GetDrift},
		{http.MethodGet, releasePath + "/trail", authz.Get, s.history.GetReleaseTrail},
		{http.MethodGet, releasePath + "/sessions", authz.Get, s.listSessions},
		{http.MethodGet, releasePath + "/sessions/:session", authz.Get, s.getSession},
		{http.MethodGet, releasePath + "/sessions/:session/rendered", authz.Get, s.history.GetRendered},
		{http.MethodGet, releasePath + "/sessions/:session/validation", authz.Get, s.history.GetValidation},
		{http.MethodPost, releasePath + "/sessions/:session/cancel", authz.Update, s.cancel},
		{http.MethodPost, releasePath + "/recover", authz.Update, s.recoverRelease},
		{http.MethodPost, "/login", authz.Nothing, s.login},
		{http.MethodPost, "/logout", authz.Nothing, s.logout},
		{http.MethodGet, "/me", authz.Nothing, s.me},
		{http.MethodGet, "/metrics", authz.Metrics, s.metrics},
		{http.MethodGet, "/healthz", authz.Nothing, s.health},
		{http.MethodGet, "/readyz", authz.Nothing, s.readiness},
		{http.MethodGet, "/openapi.yaml", authz.Nothing, s.openAPI},
		{http.MethodGet, "/", authz.Nothing, s.root},
		{http.MethodGet, "/helm", authz.Nothing, s.root},
		{http.MethodGet, "/helm/*path", authz.Nothing, s.page},
	}
	for _, r := range s.console.Routes() {
		// The contract checks permissions itself.
		all = append(all, route{r.Method, r.Path, authz.Nothing, r.Handle})
	}
	return all
}

func (s *Server) newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
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

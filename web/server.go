package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/helmtrail/helmtrail/stream"
)

// Options is what a Server serves.
type Options struct {
	// Clusters are the watched clusters to begin with, in the order in which they
	// are listed.
	Clusters []Cluster
	// DefaultCluster is the id of the cluster that addresses mean which name
	// none; "" for the first.
	DefaultCluster string
	// Operations starts sessions and opens their logs.
	Operations *stream.Operations
	// Trail keeps what releases ever were; nil for no trail.
	Trail stream.Trail
	// Charts lists and keeps charts; nil for none.
	Charts Charts
	// Archives fetches, keeps and renders charts for the OpenShift console's
	// contract; nil when it is not served.
	Archives Archives
	// Pages is the built app: index.html, assets/ and what else it needs.
	Pages fs.FS
	// NotReady tells what else keeps the server from its work, a sentence each;
	// nil for nothing. It may take some seconds.
	NotReady func() []string
	// LocalOnly refuses requests whose Host is neither a loopback name or
	// address nor one of Hosts, so that no foreign page can reach a server
	// without login by giving its own name a loopback address.
	LocalOnly bool
	// Hosts are further names, without port, that LocalOnly lets pass.
	Hosts []string
	// BasePath is what stands before every address behind a proxy, such as
	// "/helmtrail"; "" for nothing.
	BasePath string
	// MayReveal returns nil if the caller of a request may see the secrets of
	// a release, else why not. Without it those may who have the right to read
	// Secrets, and nobody where callers do not sign in.
	MayReveal func(r *http.Request, release stream.ReleaseRef) error
	// MaskKey makes the fingerprints of masked secrets, so that they can be
	// compared wherever the key is the same; by default a new one. It is secret.
	MaskKey []byte
	// Metrics is where the server registers its own and what /metrics shows;
	// nil for none.
	Metrics *prometheus.Registry
	// Logger gets what went wrong on the server's side; slog.Default() if nil.
	Logger *slog.Logger
}

// Server is helmtrail's http.Handler. It may be used concurrently. Close it to
// end its streams, or http.Server.Shutdown waits for them in vain.
type Server struct {
	options  Options
	clusters clusterSet
	pages    *pages
	engine   *gin.Engine
	handler  http.Handler
	origins  *http.CrossOriginProtection
	logger   *slog.Logger
	// signIn means that callers have to sign in.
	signIn bool
	meter  *meter
	// takeWithin is how long a stream's reader may take nothing, bodyWithin and
	// answerWithin how long other requests may take on the wire.
	takeWithin, bodyWithin, answerWithin time.Duration
	// closing ends when Close is called.
	closing context.Context
	close   context.CancelFunc
	// facts are what the history has read of records.
	facts factsCache
	// maskedRecords are records as they may be shown.
	maskedRecords recordCache
	// keptRecords are records that the trail has kept.
	keptRecords recordCache
	// briefs are releases as the console's lists show them.
	briefs briefs
	// indexes are the chart repositories' as the console's catalogue shows them.
	indexes indexes
	// unwatch stops observing the sessions.
	unwatch func()
}

// New returns a Server. It observes the clusters' transitions until it is
// closed.
func New(o Options) (*Server, error) {
	if err := CheckBasePath(o.BasePath); err != nil {
		return nil, fmt.Errorf("serve below %s: %w", o.BasePath, err)
	}
	p, err := newPages(o.Pages)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o,
		pages:   p,
		origins: http.NewCrossOriginProtection(),
		logger:  o.Logger,

		takeWithin: defaultTakeWithin, bodyWithin: defaultBodyWithin, answerWithin: defaultAnswerWithin,
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	if s.options.MaskKey == nil {
		s.options.MaskKey = []byte(rand.Text())
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.meter = newMeter(s)
	s.signIn = len(o.Clusters) > 0 && o.Clusters[0].Access != nil
	if s.signIn && s.options.MayReveal == nil {
		s.options.MayReveal = s.mayReveal
	}
	if err := s.addClusters(o.Clusters); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.unwatch = s.watchSessions()
	s.engine = s.newEngine()
	if s.handler, err = newHandler(s.engine); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if o.Metrics != nil {
		if err := o.Metrics.Register(s.meter); err != nil {
			return nil, errors.Join(fmt.Errorf("register metrics: %w", err), s.Close())
		}
	}
	return s, nil
}

// Close ends all streams and stops observing the clusters. Other requests are
// still answered. It does not wait for the streams' handlers, which
// http.Server.Shutdown does; register it with RegisterOnShutdown.
func (s *Server) Close() error {
	s.close()
	if s.unwatch != nil {
		s.unwatch()
	}
	for _, c := range s.clusters.all() {
		c.stop()
	}
	return nil
}

// handler answers a request or returns what went wrong, which answer maps to
// the response. After it has written something it returns nil.
type handler func(c *gin.Context) error

type route struct {
	method, path string
	need         need
	handle       handler
}

const (
	clusterPath   = "/:cluster"
	namespacePath = clusterPath + "/namespaces/:namespace/releases"
	releasePath   = namespacePath + "/:name"
)

func (s *Server) routes() []route {
	return []route{
		{http.MethodGet, "/clusters", needUser, s.listClusters},
		{http.MethodGet, "/charts", needUser, s.listCharts},
		{http.MethodPost, "/charts", needUpload, s.uploadChart},
		{http.MethodGet, "/charts/*ref", needUser, s.describeChart},
		{http.MethodGet, clusterPath + "/releases", needList, s.listReleases},
		{http.MethodGet, clusterPath + "/releases/events", needList, s.streamTransitions},
		{http.MethodGet, clusterPath + "/trail", needTrail, s.getTrail},
		{http.MethodGet, namespacePath, needList, s.listReleases},
		{http.MethodPost, namespacePath, needCreate, s.install},
		{http.MethodGet, releasePath, needGet, s.getRelease},
		{http.MethodPut, releasePath, needUpdate, s.upgrade},
		{http.MethodDelete, releasePath, needDelete, s.uninstall},
		{http.MethodPost, releasePath + "/rollback", needUpdate, s.rollback},
		{http.MethodGet, releasePath + "/events", needGet, s.streamSession},
		{http.MethodGet, releasePath + "/resources", needGet, s.listResources},
		{http.MethodGet, releasePath + "/history", needGet, s.getHistory},
		{http.MethodGet, releasePath + "/revisions/:revision/:part", needGet, s.getPart},
		{http.MethodGet, releasePath + "/diff", needGet, s.getDiff},
		{http.MethodGet, releasePath + "/drift", needGet, s.getDrift},
		{http.MethodGet, releasePath + "/trail", needGet, s.getReleaseTrail},
		{http.MethodGet, releasePath + "/sessions", needGet, s.listSessions},
		{http.MethodGet, releasePath + "/sessions/:session", needGet, s.getSession},
		{http.MethodGet, releasePath + "/sessions/:session/rendered", needGet, s.renderedManifest},
		{http.MethodGet, releasePath + "/sessions/:session/validation", needGet, s.getValidation},
		{http.MethodPost, releasePath + "/sessions/:session/cancel", needUpdate, s.cancel},
		{http.MethodPost, releasePath + "/recover", needUpdate, s.recoverRelease},
		{http.MethodPost, "/login", needNothing, s.login},
		{http.MethodPost, "/logout", needNothing, s.logout},
		{http.MethodGet, "/me", needNothing, s.me},
		{http.MethodGet, "/metrics", needMetrics, s.metrics},
		{http.MethodGet, "/healthz", needNothing, s.health},
		{http.MethodGet, "/readyz", needNothing, s.readiness},
		{http.MethodGet, "/openapi.yaml", needNothing, s.openAPI},
		{http.MethodGet, "/", needNothing, s.root},
		{http.MethodGet, "/helm", needNothing, s.root},
		{http.MethodGet, "/helm/*path", needNothing, s.page},
	}
}

// reserved reports whether a cluster of this id would hide other routes.
func reserved(id string) bool {
	switch id {
	case "", "api", "assets", "charts", "clusters", "healthz", "helm", "login", "logout", "me", "metrics", "openapi.yaml", "readyz":
		return true
	}
	return false
}

func (s *Server) newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.Use(s.recoverPanics, s.guard)
	engine.NoRoute(s.answer(func(*gin.Context) error { return errNoRoute }))
	engine.NoMethod(s.answer(func(*gin.Context) error { return errMethod }))
	for _, r := range append(s.routes(), s.consoleRoutes()...) {
		engine.Handle(r.method, r.path, s.answer(s.admitted(r)))
	}
	return engine
}

// releaseRef names the release of a request, and fails when its cluster is
// not watched.
func (s *Server) releaseRef(c *gin.Context) (stream.ReleaseRef, *watched, error) {
	cluster, err := s.cluster(c)
	if err != nil {
		return stream.ReleaseRef{}, nil, err
	}
	return stream.ReleaseRef{Cluster: cluster.ID, Namespace: c.Param("namespace"), Name: c.Param("name")}, cluster, nil
}

// cluster returns the cluster of a request.
func (s *Server) cluster(c *gin.Context) (*watched, error) {
	return s.served(c.Param("cluster"))
}

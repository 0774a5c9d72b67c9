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

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/history"
)

// Options is what a Server serves.
type Options struct {
	// Clusters are the first clusters to serve, in the order in which they are
	// listed.
	Clusters []Cluster
	// DefaultCluster is the id of the cluster for URLs that name none; "" for the
	// first.
	DefaultCluster string
	// Operations starts sessions and opens their logs.
	Operations *stream.Operations
	// Trail is the permanent record; nil for none.
	Trail history.Trail
	// Charts lists and keeps charts; nil for none.
	Charts Charts
	// Archives fetches, keeps and renders charts for the OpenShift console's
	// contract; nil when it is not served.
	Archives console.Archives
	// Pages is the built app: index.html, assets/ and what else it needs.
	Pages fs.FS
	// NotReady returns what else keeps the server from working, a sentence each;
	// nil for nothing. It may take some seconds.
	NotReady func() []string
	// LocalOnly refuses requests whose Host is neither a loopback name or
	// address nor one of Hosts, so that no foreign page can reach a server
	// without login by giving its own name a loopback address.
	LocalOnly bool
	// Hosts are further names, without port, that LocalOnly accepts.
	Hosts []string
	// BasePath precedes every URL path behind a proxy, such as "/helmtrail"; "" for
	// nothing.
	BasePath string
	// MayReveal returns nil if every caller who asks may see the secrets of a
	// release. If it is nil, callers need the right to read Secrets, which nobody
	// has where callers do not sign in.
	MayReveal func(release helmtrail.ReleaseRef) error
	// MaskKey makes the fingerprints of masked secrets, which can be compared as
	// long as the key is the same; a new one by default. It is secret.
	MaskKey []byte
	// Metrics is where the server registers its metrics, and what /metrics serves;
	// nil for none.
	Metrics *prometheus.Registry
	// Logger receives what goes wrong on the server; slog.Default() if nil.
	Logger *slog.Logger
}

// Server is helmtrail's http.Handler. It may be used concurrently. Close it to
// end its streams, for which http.Server.Shutdown would wait for ever.
type Server struct {
	options  Options
	clusters clusterSet
	callers  *callers
	charts   chartRoutes
	pages    *pages
	engine   *gin.Engine
	handler  http.Handler
	origins  *http.CrossOriginProtection
	history  *history.Server
	console  *console.Server
	logger   *slog.Logger
	// signIn means that callers have to sign in.
	signIn bool
	meter  *meter
	// takeWithin is how long a stream's reader may take nothing. bodyWithin and
	// answerWithin are how long other requests may take on the wire.
	takeWithin, bodyWithin, answerWithin time.Duration
	// closing ends when Close is called.
	closing context.Context
	close   context.CancelFunc
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
	s.clusters.defaultTo = o.DefaultCluster
	s.callers = &callers{clusters: &s.clusters, signIn: s.signIn}
	s.charts = chartRoutes{o.Charts, o.BasePath}
	s.history = s.newHistory()
	s.console = s.newConsole()
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
		c.Close()
	}
	return nil
}

func (s *Server) newHistory() *history.Server {
	return history.New(history.Options{
		Cluster: func(id string) (history.Cluster, error) {
			cluster, err := s.clusters.served(id)
			if err != nil {
				return history.Cluster{}, err
			}
			return history.Cluster{Cluster: cluster.Cluster, Records: cluster.objects, Comparer: cluster.comparer}, nil
		},
		CallerIn: s.callers.identifyIn, Sessions: s.options.Operations, Trail: s.options.Trail, MayReveal: s.mayReveal,
		MaskKey: s.options.MaskKey, OpenPaced: s.openPaced, Logger: s.logger,
	})
}

func (s *Server) newConsole() *console.Server {
	return console.New(console.Options{
		Cluster: func() (console.Cluster, error) {
			cluster, err := s.clusters.defaultCluster()
			if err != nil {
				return console.Cluster{}, err
			}
			return console.Cluster{Cluster: cluster.Cluster, Records: cluster.objects, API: cluster.api}, nil
		},
		Caller: s.callers.identifyConsole, Operations: s.options.Operations, Secrets: s.history, Archives: s.options.Archives,
		MayReveal: s.mayReveal, Unbound: s.unboundAnswer, Closing: s.closing, Logger: s.logger,
	})
}

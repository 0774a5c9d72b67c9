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
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/history"
)

// Options configure a Server.
type Options struct {
	// Clusters are the clusters to serve at first, in the order of the list.
	Clusters []Cluster
	// DefaultCluster is the id of the cluster for URLs without a cluster; ""
	// means the first.
	DefaultCluster string
	// Operations starts sessions and opens their logs.
	Operations *stream.Operations
	// Trail is the permanent record; it may be nil.
	Trail history.Trail
	// Charts lists and stores charts; it may be nil.
	Charts Charts
	// Archives fetches, stores and renders charts for the OpenShift console's
	// contract. It is nil if the contract is not served.
	Archives console.Archives
	// Pages is the built app: index.html, assets/ and other files.
	Pages fs.FS
	// NotReady returns further reasons why the server is not ready, one sentence
	// each. It may take some seconds, and may be nil.
	NotReady func() []string
	// LocalOnly rejects requests whose Host is neither a loopback name or address
	// nor one of Hosts. A foreign page could otherwise reach a server without
	// login by giving its own name a loopback address.
	LocalOnly bool
	// Hosts are further names, without port, that LocalOnly accepts.
	Hosts []string
	// BasePath precedes every URL path behind a proxy, such as "/helmtrail"; it
	// may be "".
	BasePath string
	// MayReveal returns nil if every caller may see the secrets of a release. If
	// MayReveal is nil, callers need permission to read Secrets, which nobody has
	// on a server without login.
	MayReveal func(release helmtrail.ReleaseRef) error
	// MaskKey is the key for the fingerprints of masked secrets, which are
	// comparable while the key is the same. It is secret. The default is a new
	// key.
	MaskKey []byte
	// Budget bounds the memory in which records are decoded and masked for
	// requests; a new one by default.
	Budget *budget.Budget
	// Metrics is the registry for the server's metrics and for /metrics; it may be nil.
	Metrics *prometheus.Registry
	// Logger receives the server's errors; the default is slog.Default().
	Logger *slog.Logger
}

// Server is helmtrail's http.Handler. It may be used concurrently. Close ends its
// streams; without it http.Server.Shutdown would wait for them forever.
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
	// takeWithin is how long a stream's reader may accept nothing. bodyWithin and
	// answerWithin limit the transfer times of other requests.
	takeWithin, bodyWithin, answerWithin time.Duration
	// closing ends when Close is called.
	closing context.Context
	close   context.CancelFunc
	// unwatch stops observing sessions.
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
	if s.options.Budget == nil {
		s.options.Budget = budget.New()
	}
	if s.options.MaskKey == nil {
		s.options.MaskKey = []byte(rand.Text())
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.meter = newMeter(s)
	s.signIn = len(o.Clusters) > 0 && o.Clusters[0].Access != nil
	s.clusters.defaultTo = o.DefaultCluster
	s.callers = &callers{clusters: &s.clusters, signIn: s.signIn}
	s.charts = chartRoutes{o.Charts, &s.clusters, o.BasePath}
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
// still answered. Close does not wait for the handlers of streams;
// http.Server.Shutdown does. Register Close with RegisterOnShutdown.
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
		MaskKey: s.options.MaskKey, Budget: s.options.Budget, OpenPaced: s.openPaced, Logger: s.logger,
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
		MayReveal: s.mayReveal, Unbound: s.unboundAnswer, Closing: s.closing, Budget: s.options.Budget, Logger: s.logger,
	})
}

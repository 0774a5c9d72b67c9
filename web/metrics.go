package web

import (
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// meter counts what the server serves. The figures of clusters are computed when
// they are collected.
type meter struct {
	server *Server
	// These are the numbers of open streams.
	sessionStreams, clusterStreams atomic.Int64

	subscribers, releases, unreadable, stuck, up, synced *prometheus.Desc
	transitions, undecoded                               *prometheus.CounterVec
	lag                                                  *prometheus.HistogramVec
}

func newMeter(s *Server) *meter {
	cluster := []string{"cluster"}
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("helmtrail_"+name, help, labels, nil)
	}
	return &meter{
		server:      s,
		subscribers: describe("subscribers", "Open event streams, of sessions and of whole clusters.", "stream"),
		releases:    describe("releases", "Releases by the status of their newest revision.", "cluster", "status"),
		unreadable:  describe("unreadable_releases", "Releases whose newest record cannot be decoded.", cluster...),
		stuck:       describe("stuck_releases", "Releases left in a pending status.", cluster...),
		up:          describe("cluster_reachable", "1 if the cluster's API server answered the last request.", cluster...),
		synced:      describe("cluster_synced", "1 if all releases of the cluster are known.", cluster...),
		transitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_transitions_total", Help: "Transitions seen, by their new status.",
		}, []string{"cluster", "change", "status"}),
		undecoded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_decode_errors_total", Help: "Transitions whose record could not be decoded.",
		}, cluster),
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "helmtrail_transition_lag_seconds",
			Help: "Time from when a release's Secret was written until its transition could be read. " +
				"The API server reports write times in whole seconds, rounded down, so the value is up to a second too high. Clock differences between the machines add to it. " +
				"Transitions found after a gap are not counted.",
			Buckets: []float64{1, 1.25, 1.5, 2, 3, 5, 10, 30, 60, 300},
		}, cluster),
	}
}

// Describe implements prometheus.Collector.
func (m *meter) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.subscribers, m.releases, m.unreadable, m.stuck, m.up, m.synced} {
		out <- d
	}
	m.transitions.Describe(out)
	m.undecoded.Describe(out)
	m.lag.Describe(out)
}

// Collect implements prometheus.Collector.
func (m *meter) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	m.transitions.Collect(out)
	m.undecoded.Collect(out)
	m.lag.Collect(out)
	gauge(m.subscribers, float64(m.sessionStreams.Load()), "session")
	gauge(m.subscribers, float64(m.clusterStreams.Load()), "cluster")
	for _, c := range m.server.clusters.all() {
		state := c.State()
		gauge(m.up, number(state.Reachable), c.ID)
		gauge(m.synced, number(state.Synced), c.ID)
		statuses := map[string]int{}
		unreadable, stuck := 0, 0
		for _, r := range c.Latest().Revisions {
			statuses[statusLabel(r.Status())]++
			if r.Problem != "" {
				unreadable++
			}
			if m.server.isStuck(c.ID, r) {
				stuck++
			}
		}
		for status, count := range statuses {
			gauge(m.releases, float64(count), c.ID, status)
		}
		gauge(m.unreadable, float64(unreadable), c.ID)
		gauge(m.stuck, float64(stuck), c.ID)
	}
}

// isStuck reports whether a release was left pending. It returns false if that
// cannot be determined.
func (s *Server) isStuck(cluster string, r *decoder.Revision) bool {
	if !decoder.Busy(r.Status()) {
		return false
	}
	ref := helmtrail.ReleaseRef{Cluster: cluster, Namespace: r.Namespace, Name: r.Name}
	stuck, err := s.options.Operations.Stuck(s.closing, ref, r)
	return err == nil && stuck != nil
}

// seen counts a transition that clients can now read.
func (m *meter) seen(cluster string, t decoder.Transition) {
	m.transitions.WithLabelValues(cluster, string(t.Change), statusLabel(t.Revision.Status())).Inc()
	if t.Revision.Problem != "" {
		m.undecoded.WithLabelValues(cluster).Inc()
	}
	if t.Change == decoder.ChangeStatus && !t.Late && !t.Revision.Written.IsZero() {
		m.lag.WithLabelValues(cluster).Observe(max(0, time.Since(t.Revision.Written).Seconds()))
	}
}

// statusLabel returns a status as a label. All statuses unknown to Helm share one
// value, so that nobody can create any number of label values.
func statusLabel(s decoder.Status) string {
	switch s {
	case decoder.StatusDeployed, decoder.StatusFailed, decoder.StatusSuperseded, decoder.StatusUninstalled, decoder.StatusUninstalling,
		decoder.StatusPendingInstall, decoder.StatusPendingUpgrade, decoder.StatusPendingRollback, decoder.StatusUnknown:
		return string(s)
	}
	return "other"
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// metrics answers Prometheus.
func (s *Server) metrics(c *gin.Context) error {
	if s.options.Metrics == nil {
		return httpapi.ErrNoRoute
	}
	c.Header("Cache-Control", httpapi.Revalidate)
	promhttp.HandlerFor(s.options.Metrics, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(c.Writer, c.Request)
	return nil
}

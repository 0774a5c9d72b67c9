package main

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// meter counts sessions and events. It implements stream.Meter.
type meter struct {
	ended    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	stored   *prometheus.CounterVec
	delay    prometheus.Histogram
}

func newMeter(registry *prometheus.Registry) *meter {
	m := &meter{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_operations_total", Help: "Sessions that have ended, by their result.",
		}, []string{"cluster", "operation", "origin", "result", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "helmtrail_operation_duration_seconds", Help: "Duration of sessions.",
			Buckets: []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
		}, []string{"operation", "result"}),
		stored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_events_total", Help: "Session events stored, by type.",
		}, []string{"type"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "helmtrail_event_delay_seconds", Help: "Time from when a change was seen until its event could be read.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}),
	}
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.ended, m.duration, m.stored, m.delay,
	)
	return m
}

// Stored implements stream.Meter.
func (m *meter) Stored(kind helmtrail.Type, delay time.Duration) {
	m.stored.WithLabelValues(string(kind)).Inc()
	m.delay.Observe(delay.Seconds())
}

// Ended implements stream.Meter.
func (m *meter) Ended(end stream.SessionEnd) {
	m.ended.WithLabelValues(end.Cluster, string(end.Operation), string(end.Origin), string(end.Result), string(end.Reason)).Inc()
	m.duration.WithLabelValues(string(end.Operation), string(end.Result)).Observe(end.Duration.Seconds())
}

// measured collects metrics from the other parts on each scrape.
type measured struct {
	operations *stream.Operations
	fleet      *fleet
	trail      *trail.Trail
	journal    *journal.Journal
	dataDir    string
}

var (
	runningMetric  = prometheus.NewDesc("helmtrail_operations_running", "Sessions that are running, by origin.", []string{"origin"}, nil)
	ignoredMetric  = prometheus.NewDesc("helmtrail_ignored_secrets_total", "Secrets of Helm's type that hold no record.", []string{"cluster"}, nil)
	restartMetric  = prometheus.NewDesc("helmtrail_watch_restarts_total", "How often the releases of a cluster were listed again because their watch could not be resumed.", []string{"cluster"}, nil)
	entriesMetric  = prometheus.NewDesc("helmtrail_trail_entries", "Entries in the trail of a cluster.", []string{"cluster"}, nil)
	headMetric     = prometheus.NewDesc("helmtrail_trail_head_time_seconds", "When the trail's last entry was written, as Unix time.", []string{"cluster"}, nil)
	headInfoMetric = prometheus.NewDesc("helmtrail_trail_head_info", "The last logged head of the trail. Kept elsewhere, it exposes a rewritten or truncated trail.", []string{"cluster", "position", "hash"}, nil)
	brokenMetric   = prometheus.NewDesc("helmtrail_trail_broken", "1 if a link of the trail is known not to hold.", []string{"cluster"}, nil)
	waitingMetric  = prometheus.NewDesc("helmtrail_trail_waiting_bytes", "Bytes that wait to be written to the trail.", []string{"cluster"}, nil)
	failingMetric  = prometheus.NewDesc("helmtrail_trail_failing", "1 while the trail cannot be written.", []string{"cluster"}, nil)
	journalMetric  = prometheus.NewDesc("helmtrail_journal_bytes", "The size of the journal on disk.", nil, nil)
	damagedMetric  = prometheus.NewDesc("helmtrail_journal_damaged", "Damaged entries, records and events found when helmtrail started. The log names them.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *measured) Describe(out chan<- *prometheus.Desc) {
	out <- runningMetric
	out <- ignoredMetric
	out <- restartMetric
	out <- journalMetric
	out <- damagedMetric
	out <- entriesMetric
	out <- headMetric
	out <- headInfoMetric
	out <- brokenMetric
	out <- waitingMetric
	out <- failingMetric
}

// Collect implements prometheus.Collector.
func (m *measured) Collect(out chan<- prometheus.Metric) {
	running, observed := m.operations.Count()
	out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(running), string(helmtrail.OriginHelmtrail))
	out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(observed), string(helmtrail.OriginOutside))
	for _, c := range m.fleet.all() {
		health := c.Health()
		out <- prometheus.MustNewConstMetric(ignoredMetric, prometheus.CounterValue, float64(health.Ignored), c.ID)
		out <- prometheus.MustNewConstMetric(restartMetric, prometheus.CounterValue, float64(health.Restarts), c.ID)
	}
	m.collectTrail(out)
	out <- prometheus.MustNewConstMetric(journalMetric, prometheus.GaugeValue, float64(sizeOf(m.dataDir)))
	out <- prometheus.MustNewConstMetric(damagedMetric, prometheus.GaugeValue, float64(len(m.journal.Damage())))
}

// collectTrail collects the metrics of each cluster's trail.
func (m *measured) collectTrail(out chan<- prometheus.Metric) {
	for _, s := range m.trail.Stats() {
		gauge := func(metric *prometheus.Desc, value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(metric, prometheus.GaugeValue, value, append([]string{s.Cluster}, labels...)...)
		}
		gauge(entriesMetric, float64(s.State.Entries))
		if s.State.Entries > 0 {
			gauge(headMetric, float64(s.State.HeadTime.UnixNano())/1e9)
		}
		if s.Logged > 0 {
			gauge(headInfoMetric, 1, strconv.FormatUint(s.Logged, 10), s.LoggedHash)
		}
		gauge(brokenMetric, one(!s.State.Verified))
		gauge(waitingMetric, float64(s.Waiting))
		gauge(failingMetric, one(s.Failing))
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// sizeOf returns the total size of the files below a folder. It skips files that
// are removed meanwhile.
func sizeOf(folder string) int64 {
	var total int64
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

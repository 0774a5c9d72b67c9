package main

import (
	"io/fs"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
)

// meter is what is counted beside web's own numbers. It implements
// stream.Meter.
type meter struct {
	ended    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	stored   *prometheus.CounterVec
	delay    prometheus.Histogram
}

func newMeter(registry *prometheus.Registry) *meter {
	m := &meter{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_operations_total", Help: "Sessions that have ended.",
		}, []string{"cluster", "operation", "origin", "result", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "helmtrail_operation_duration_seconds", Help: "How long sessions took.",
			Buckets: []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
		}, []string{"operation", "result"}),
		stored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "helmtrail_events_total", Help: "Events of sessions that were stored.",
		}, []string{"type"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "helmtrail_event_delay_seconds", Help: "The time from when something was seen to when its event could be read.",
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
func (m *meter) Stored(kind stream.Type, delay time.Duration) {
	m.stored.WithLabelValues(string(kind)).Inc()
	m.delay.Observe(delay.Seconds())
}

// Ended implements stream.Meter.
func (m *meter) Ended(end stream.SessionEnd) {
	m.ended.WithLabelValues(end.Cluster, string(end.Operation), string(end.Origin), string(end.Result), string(end.Reason)).Inc()
	m.duration.WithLabelValues(string(end.Operation), string(end.Result)).Observe(end.Duration.Seconds())
}

// measured is what is asked of the parts when somebody wants the metrics.
type measured struct {
	operations *stream.Operations
	clusters   []*informer.Cluster
	dataDir    string
}

var (
	runningMetric = prometheus.NewDesc("helmtrail_operations_running", "Sessions that run now, by who started them.", []string{"origin"}, nil)
	ignoredMetric = prometheus.NewDesc("helmtrail_ignored_secrets_total", "Secrets of Helm's type that hold no record.", []string{"cluster"}, nil)
	restartMetric = prometheus.NewDesc("helmtrail_watch_restarts_total", "How often the watch of a cluster began anew.", []string{"cluster"}, nil)
	journalMetric = prometheus.NewDesc("helmtrail_journal_bytes", "The size of the journal on disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *measured) Describe(out chan<- *prometheus.Desc) {
	out <- runningMetric
	out <- ignoredMetric
	out <- restartMetric
	out <- journalMetric
}

// Collect implements prometheus.Collector.
func (m *measured) Collect(out chan<- prometheus.Metric) {
	running, observed := m.operations.Count()
	out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(running), string(stream.OriginHelmtrail))
	out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(observed), string(stream.OriginOutside))
	for _, c := range m.clusters {
		health := c.Health()
		out <- prometheus.MustNewConstMetric(ignoredMetric, prometheus.CounterValue, float64(health.Ignored), c.ID)
		out <- prometheus.MustNewConstMetric(restartMetric, prometheus.CounterValue, float64(health.Restarts), c.ID)
	}
	out <- prometheus.MustNewConstMetric(journalMetric, prometheus.GaugeValue, float64(sizeOf(m.dataDir)))
}

// sizeOf adds up the files below a folder; what vanishes meanwhile has no size.
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

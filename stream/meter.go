package stream

import (
	"time"

	"github.com/helmtrail/helmtrail"
)

// Meter counts what sessions do. Its methods are called by many goroutines and
// must not block.
type Meter interface {
	// Stored is called when an event can be read, with the time since it
	// happened.
	Stored(kind helmtrail.Type, delay time.Duration)
	// Ended is called once for each session.
	Ended(SessionEnd)
}

// SessionEnd describes an ended session to a Meter.
type SessionEnd struct {
	Cluster   string
	Operation helmtrail.Operation
	Origin    helmtrail.Origin
	Result    helmtrail.Type
	Reason    helmtrail.Reason
	Duration  time.Duration
}

// Count returns how many operations run, and how many operations of others are
// observed.
func (o *Operations) Count() (running, observed int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.running), len(o.observing)
}

// RunningIn returns how many operations run in a cluster.
func (o *Operations) RunningIn(cluster string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	running := 0
	for release := range o.running {
		if release.Cluster == cluster {
			running++
		}
	}
	return running
}

// measureStored counts events that were just stored.
func (o *Operations) measureStored(items []pending) {
	if o.setup.Meter == nil {
		return
	}
	for _, item := range items {
		o.setup.Meter.Stored(item.kind, time.Since(item.at))
	}
}

// measureEnd counts the end of a session.
func (o *Operations) measureEnd(r *run, kind helmtrail.Type, end *helmtrail.End) {
	if o.setup.Meter == nil {
		return
	}
	counted := SessionEnd{
		Cluster: r.ref.Release.Cluster, Operation: displayedOperation(r.request), Origin: r.origin,
		Result: kind, Reason: end.Reason, Duration: time.Since(r.writer.started),
	}
	o.setup.Meter.Ended(counted)
}

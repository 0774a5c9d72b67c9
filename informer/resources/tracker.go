package resources

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/internal/bounded"
)

const (
	// settle is how long changes are collected before they are reported. In a
	// large release objects change all the time, and every report is stored, so
	// the time grows by settleEach for each row, up to settleMost.
	settle     = 200 * time.Millisecond
	settleEach = 400 * time.Microsecond
	settleMost = time.Second
	// linger is how long a watch continues without a reader: the next revision of
	// a release, or the next reader of a page, needs the same watches.
	linger = 30 * time.Second
	// firstWait bounds the wait for all objects to become known.
	firstWait = 5 * time.Second
	// unknownAgain is how often an unknown kind is looked up again.
	unknownAgain = 2 * time.Second
	// requestTimeout bounds one LIST or GET.
	requestTimeout = 30 * time.Second
)

// Clients are a tracker's clients of the API server.
type Clients struct {
	Dynamic   dynamic.Interface
	Metadata  metadata.Interface
	Discovery discovery.DiscoveryInterface
	Core      corev1client.CoreV1Interface
	Apps      appsv1client.AppsV1Interface
	Batch     batchv1client.BatchV1Interface
}

// Tracker reports the state of releases' objects. One serves a whole cluster.
// Its methods may be called concurrently.
type Tracker struct {
	clients Clients
	mapper  *mapper
	linger  time.Duration
	logs    *bounded.Cache[string] // the ends of containers' logs
	endings endings

	mu      sync.Mutex
	watches map[place]*sharedWatch
	closed  bool
	ending  sync.WaitGroup // the watches without readers that are ending
}

// NewTracker returns a tracker. It starts nothing. The caller must call Close.
func NewTracker(clients Clients) *Tracker {
	return &Tracker{
		clients: clients, mapper: newMapper(clients.Discovery), linger: linger, watches: map[place]*sharedWatch{},
		logs: bounded.New(bounded.Options[string]{Limit: logsLimit, Life: logLife, Size: func(log string) int { return len(log) + 1 }}),
	}
}

// target is an object that a record names. It gets a row, and so do its
// dependents.
type target struct {
	object
	mapping *meta.RESTMapping
	err     error // why there is no mapping
	kind    *kind // nil without a mapping
	place   place
	below   []place // of the dependents, and of the events that explain them
}

// targetsOf returns the objects of a record; locate completes them.
func targetsOf(record *decoder.Record) []*target {
	var targets []*target
	for _, o := range objects(record) {
		targets = append(targets, &target{object: o})
	}
	return targets
}

// locate looks up the target's kind, and reports whether the API server has it.
func (t *Tracker) locate(ctx context.Context, target *target) bool {
	if target.problem != "" || target.mapping != nil {
		return true
	}
	var mapping *meta.RESTMapping
	if mapping, target.err = t.mapper.find(ctx, target.gvk); target.err != nil {
		return false
	}
	target.mapTo(mapping)
	return true
}

// mapTo sets everything that follows from where the API server has the kind.
func (t *target) mapTo(mapping *meta.RESTMapping) {
	t.mapping, t.kind = mapping, mappedKind(t.gvk, mapping.Resource.GroupResource())
	t.place = place{resource: mapping.Resource}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		t.place.namespace = t.namespace
	}
	t.below = t.place.below()
}

// follower is one call of Follow or Now, with the watches that it has joined.
type follower struct {
	tracker *Tracker
	targets []*target
	wake    chan struct{}
	watches map[place]*sharedWatch
}

// follower returns a follower that has not joined any watch.
func (t *Tracker) follower(record *decoder.Record) *follower {
	return &follower{tracker: t, targets: targetsOf(record), wake: make(chan struct{}, 1), watches: map[place]*sharedWatch{}}
}

// Follow calls f with the rows of the objects that the record names and of their
// dependents, limited to what the viewer may see. The first call is made when all
// objects are known, or after five seconds; the others after each change of a
// row. Follow blocks until ctx ends, and returns nil. A hook has no row before
// its object exists, and keeps the row after the object is deleted.
func (t *Tracker) Follow(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer, f func([]health.Resource)) error {
	fo := t.follower(record)
	defer fo.leave()
	again := time.NewTicker(unknownAgain)
	defer again.Stop()
	if fo.join(ctx) {
		again.Stop()
	}
	fo.waitUntilKnown(ctx)
	g := guarded(fo, viewer)
	v := newView(record, g)
	reviewed := time.NewTimer(reviewAgain)
	defer reviewed.Stop()
	var last []health.Resource
	for first := true; ctx.Err() == nil; first = false {
		reviewed.Reset(g.review(ctx, fo.targets))
		rows := v.rows(fo.targets)
		if first || !slices.Equal(rows, last) {
			f(rows)
			last = rows
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
			if fo.join(ctx) {
				again.Stop()
			}
		case <-fo.wake:
		case <-reviewed.C:
		}
		// Changes come in bursts. The first one sets the time, so that an object
		// that never stops changing is reported nevertheless.
		select {
		case <-ctx.Done():
		case <-time.After(settling(len(rows))):
		}
		select {
		case <-fo.wake:
		default:
		}
	}
	return nil
}

// settling returns how long changes of so many rows are collected.
func settling(rows int) time.Duration {
	return min(max(settle, time.Duration(rows)*settleEach), settleMost)
}

// join joins the watches of the targets and their dependents whose kinds are known. It
// reports whether all are.
func (f *follower) join(ctx context.Context) (all bool) {
	all = true
	for _, target := range f.targets {
		if !f.tracker.locate(ctx, target) {
			all = false
		}
		if target.mapping == nil {
			continue
		}
		f.watch(target.place)
		for _, p := range target.below {
			f.watch(p)
		}
		if target.hook != "" {
			f.watches[target.place].keepFinalState(target.place.namespace, target.name)
		}
	}
	return all
}

func (f *follower) watch(p place) {
	if f.watches[p] == nil {
		f.watches[p] = f.tracker.join(p, f.wake)
	}
}

func (f *follower) leave() {
	for p, w := range f.watches {
		f.tracker.leave(p, w, f.wake)
	}
}

func (f *follower) waitUntilKnown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	for _, w := range f.watches {
		select {
		case <-ctx.Done():
			return
		case <-w.known:
		}
	}
}

// indexer implements [lister].
func (f *follower) indexer(p place) (cache.Indexer, error) {
	if w := f.watches[p]; w != nil {
		return w.objects()
	}
	return nil, errNotYet
}

// object implements [lister]. If the kind itself is gone, so is the object.
func (f *follower) object(target *target) (runtime.Object, error) {
	objects, err := f.indexer(target.place)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return find(objects, target.place.namespace, target.name)
}

// endOf implements [lister].
func (f *follower) endOf(target *target, since time.Time) (End, string) {
	return f.tracker.endings.endOf(target.namespace, target.name, since)
}

// finalState implements [lister].
func (f *follower) finalState(target *target) runtime.Object {
	return f.watches[target.place].finalState(target.place.namespace, target.name)
}

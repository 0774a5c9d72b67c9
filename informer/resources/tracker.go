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

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/internal/bounded"
	"github.com/helmtrail/helmtrail/stream"
)

const (
	// settle is how long changes are collected before they are told, and
	// settleEach how long for each row if that is longer, up to settleMost: in a
	// big release something changes all the time, and what is told is kept.
	settle     = 200 * time.Millisecond
	settleEach = 400 * time.Microsecond
	settleMost = time.Second
	// linger is how long a watch goes on without a reader: the next revision of
	// a release, or the next reader of a page, needs the same ones.
	linger = 30 * time.Second
	// firstWait bounds the wait for all objects to become known.
	firstWait = 5 * time.Second
	// unknownAgain is how often a kind that is unknown is looked for again.
	unknownAgain = 2 * time.Second
	// requestTimeout bounds one list or read.
	requestTimeout = 30 * time.Second
)

// Clients are what a tracker asks the API server with.
type Clients struct {
	Dynamic   dynamic.Interface
	Metadata  metadata.Interface
	Discovery discovery.DiscoveryInterface
	Core      corev1client.CoreV1Interface
	Apps      appsv1client.AppsV1Interface
	Batch     batchv1client.BatchV1Interface
}

// Tracker knows how the objects of releases are. One serves a whole cluster,
// and any number of callers at the same time.
type Tracker struct {
	clients Clients
	mapper  *mapper
	linger  time.Duration
	logs    *bounded.Cache[string] // what containers wrote last

	mu      sync.Mutex
	watches map[place]*sharedWatch
	closed  bool
	ending  sync.WaitGroup // the watches that nobody reads any more
}

// NewTracker makes a tracker; it starts nothing. Close it in the end.
func NewTracker(clients Clients) *Tracker {
	return &Tracker{
		clients: clients, mapper: newMapper(clients.Discovery), linger: linger, watches: map[place]*sharedWatch{},
		logs: bounded.New(bounded.Options[string]{Limit: logsLimit, Life: logLife, Size: func(log string) int { return len(log) + 1 }}),
	}
}

// target is an object whose rows are wanted: its own and those of what it owns.
type target struct {
	object
	mapping *meta.RESTMapping
	err     error // why there is no mapping
	place   place
	below   []place // where what it owns is, and what is said of that
}

// targetsOf returns the objects of a record; locate says where they are.
func targetsOf(record *decoder.Record) []*target {
	var targets []*target
	for _, o := range objects(record) {
		targets = append(targets, &target{object: o})
	}
	return targets
}

// locate finds out where the target's kind is, and reports whether it is known.
func (t *Tracker) locate(ctx context.Context, target *target) bool {
	if target.problem != "" || target.mapping != nil {
		return true
	}
	target.mapping, target.err = t.mapper.find(ctx, target.kind)
	if target.err != nil {
		target.mapping = nil
		return false
	}
	target.place = place{resource: target.mapping.Resource}
	if target.mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		target.place.namespace = target.namespace
	}
	target.below = belowOf(target.place)
	return true
}

// follower is one call of Follow or Now: the watches that it has joined.
type follower struct {
	tracker *Tracker
	targets []*target
	wake    chan struct{}
	watches map[place]*sharedWatch
}

// follower makes one that has joined nothing.
func (t *Tracker) follower(record *decoder.Record) *follower {
	return &follower{tracker: t, targets: targetsOf(record), wake: make(chan struct{}, 1), watches: map[place]*sharedWatch{}}
}

// Follow calls f with the rows of the objects that the record names and of what
// they own, as far as the viewer may see them, once all are known or have failed
// to be for five seconds, and then after each change that a row shows. It blocks until ctx ends and returns nil.
// A hook has no row before its object exists, and keeps it when that is deleted.
func (t *Tracker) Follow(ctx context.Context, record *decoder.Record, viewer stream.Viewer, f func([]stream.Resource)) error {
	fo := t.follower(record)
	defer fo.leave()
	again := time.NewTicker(unknownAgain)
	defer again.Stop()
	if fo.join(ctx) {
		again.Stop()
	}
	fo.waitUntilKnown(ctx)
	sight := guarded(fo, viewer)
	v := newView(record, sight)
	reviewed := time.NewTimer(reviewAgain)
	defer reviewed.Stop()
	var last []stream.Resource
	for first := true; ctx.Err() == nil; first = false {
		reviewed.Reset(sight.review(ctx, fo.targets))
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
		// Changes come in swarms. The first one sets the time, so that an
		// object that never rests is told all the same.
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

// settling is how long changes of so many rows are collected.
func settling(rows int) time.Duration {
	return min(max(settle, time.Duration(rows)*settleEach), settleMost)
}

// join joins the watches of the targets and of what they own, as far as their
// kinds are known, and reports whether all are.
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
			f.watches[target.place].remember(target.place.namespace, target.name)
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

// at implements [sight].
func (f *follower) at(p place) (cache.Indexer, error) {
	if w := f.watches[p]; w != nil {
		return w.objects()
	}
	return nil, errNotYet
}

// object implements [sight]. Where the kind itself is gone again, so is the object.
func (f *follower) object(target *target) (runtime.Object, error) {
	objects, err := f.at(target.place)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return find(objects, target.place.namespace, target.name)
}

// last implements [sight].
func (f *follower) last(target *target) runtime.Object {
	return f.watches[target.place].last(target.place.namespace, target.name)
}

package resources

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

const (
	// settle is how long changes are collected before they are told.
	settle = 200 * time.Millisecond
	// firstWait bounds the wait for all objects to become known.
	firstWait = 5 * time.Second
	// unknownAgain is how often a kind that is unknown is looked for again.
	unknownAgain = 2 * time.Second
	// requestTimeout bounds one list or read.
	requestTimeout = 30 * time.Second
	// readsAtATime bounds the requests of one snapshot.
	readsAtATime = 8
)

// Clients are what a tracker asks the API server with.
type Clients struct {
	Dynamic   dynamic.Interface
	Metadata  metadata.Interface
	Discovery discovery.DiscoveryInterface
}

// Tracker knows how the objects of releases are. One serves a whole cluster,
// and any number of callers at the same time.
type Tracker struct {
	clients Clients
	mapper  *mapper

	mu      sync.Mutex
	watches map[place]*sharedWatch
}

// NewTracker makes a tracker; it starts nothing.
func NewTracker(clients Clients) *Tracker {
	return &Tracker{clients: clients, mapper: newMapper(clients.Discovery), watches: map[place]*sharedWatch{}}
}

// followed is an object that a reader follows. The pods and events that belong
// to it would join here.
type followed struct {
	object
	mapping *meta.RESTMapping
	err     error // why there is no mapping
	place   place
	watch   *sharedWatch
}

// Follow calls f with a row for each object that the record names, once all are
// known or have failed to be for five seconds, and then after each change that
// a row shows. It blocks until ctx ends and returns nil. Hooks have a row only
// while their object exists.
func (t *Tracker) Follow(ctx context.Context, record *decoder.Record, f func([]stream.Resource)) error {
	wake := make(chan struct{}, 1)
	var targets []*followed
	for _, o := range objects(record) {
		targets = append(targets, &followed{object: o})
	}
	defer func() {
		for _, target := range targets {
			if target.watch != nil {
				t.leave(target.place, target.watch, wake)
			}
		}
	}()

	again := time.NewTicker(unknownAgain)
	defer again.Stop()
	if !t.find(ctx, targets, wake) {
		again.Stop()
	}
	waitUntilKnown(ctx, targets)
	var last []stream.Resource
	for first := true; ctx.Err() == nil; first = false {
		rows := rowsOf(targets)
		if first || !slices.Equal(rows, last) {
			f(rows)
			last = rows
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
			if !t.find(ctx, targets, wake) {
				again.Stop()
			}
		case <-wake:
		}
		// Changes come in swarms. The first one sets the time, so that an
		// object that never rests is told all the same.
		select {
		case <-ctx.Done():
		case <-time.After(settle):
		}
		select {
		case <-wake:
		default:
		}
	}
	return nil
}

// find joins the watches of the targets that have none yet, and reports whether
// a target is left of which the kind is unknown.
func (t *Tracker) find(ctx context.Context, targets []*followed, wake chan struct{}) (left bool) {
	for _, target := range targets {
		if target.watch != nil || target.problem != "" {
			continue
		}
		target.mapping, target.err = t.mapper.find(ctx, target.kind)
		if target.err != nil {
			left = true
			continue
		}
		target.place = place{resource: target.mapping.Resource}
		if target.mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			target.place.namespace = target.namespace
		}
		target.watch = t.join(target.place, wake)
	}
	return left
}

func waitUntilKnown(ctx context.Context, targets []*followed) {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	for _, target := range targets {
		if target.watch == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-target.watch.known:
		}
	}
}

func rowsOf(targets []*followed) []stream.Resource {
	rows := make([]stream.Resource, 0, len(targets))
	for _, target := range targets {
		var found runtime.Object
		err := target.err
		if target.watch != nil {
			found, err = target.watch.get(target.place.namespace, target.name)
		}
		if row, ok := target.row(target.mapping, found, err); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// row makes the object's row of what was found, and reports whether it has one.
func (o object) row(mapping *meta.RESTMapping, found runtime.Object, err error) (stream.Resource, bool) {
	row := o.emptyRow(mapping != nil && mapping.Scope.Name() == meta.RESTScopeNameRoot)
	switch {
	case o.problem != "":
		row.Status, row.Reason, row.Message = statusUnknown, "Unreadable", o.problem
		return row, true
	case err != nil:
		return unknownRow(row, err), true
	case found == nil && o.hook != "":
		// It has not run yet, or its delete policy has removed it.
		return row, false
	}
	return rowOf(row, found), true
}

// Snapshot returns the same rows as Follow, read from the API server at this
// moment. It fails only when ctx ends.
func (t *Tracker) Snapshot(ctx context.Context, record *decoder.Record) ([]stream.Resource, error) {
	all := objects(record)
	read := make([]*stream.Resource, len(all))
	var reading errgroup.Group
	reading.SetLimit(readsAtATime)
	for i, o := range all {
		reading.Go(func() error {
			mapping, found, err := t.read(ctx, o)
			if row, ok := o.row(mapping, found, err); ok {
				read[i] = &row
			}
			return ctx.Err()
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	rows := make([]stream.Resource, 0, len(all))
	for _, row := range read {
		if row != nil {
			rows = append(rows, *row)
		}
	}
	return rows, nil
}

// read asks the API server for one object, which is nil if there is none.
func (t *Tracker) read(ctx context.Context, o object) (*meta.RESTMapping, runtime.Object, error) {
	if o.problem != "" {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	mapping, err := t.mapper.find(ctx, o.kind)
	if err != nil {
		return nil, nil, err
	}
	namespace := o.namespace
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespace = ""
	}
	var found runtime.Object
	if withoutData(mapping.Resource.GroupResource()) {
		found, err = t.clients.Metadata.Resource(mapping.Resource).Namespace(namespace).Get(ctx, o.name, metav1.GetOptions{})
	} else {
		found, err = t.clients.Dynamic.Resource(mapping.Resource).Namespace(namespace).Get(ctx, o.name, metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return mapping, nil, nil
	}
	if err != nil {
		// Not found: a typed nil would pass for an object.
		return mapping, nil, err
	}
	return mapping, found, nil
}

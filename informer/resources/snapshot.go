package resources

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// readsAtATime bounds the requests of one snapshot.
const readsAtATime = 8

// snapshot holds what one call of Snapshot has read.
type snapshot struct {
	tracker *Tracker
	mu      sync.Mutex
	objects map[*target]found
	places  map[place]listed
}

type found struct {
	object runtime.Object
	err    error
}

type listed struct {
	objects cache.Indexer
	err     error
}

// Snapshot returns the same rows as Follow, read from the API server at this
// moment, object by object. Callers that ask often should use Now. It fails only
// when ctx ends.
func (t *Tracker) Snapshot(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error) {
	targets := targetsOf(record)
	s := &snapshot{tracker: t, objects: map[*target]found{}, places: map[place]listed{}}
	for _, target := range targets {
		t.locate(ctx, target)
	}
	g := guarded(s, viewer)
	g.review(ctx, targets)
	var reading errgroup.Group
	reading.SetLimit(readsAtATime)
	asked := map[place]bool{}
	for _, target := range targets {
		if target.mapping == nil || g.sees(target.place.right("get")) != nil {
			continue
		}
		reading.Go(func() error { return s.read(ctx, target) })
		for _, p := range target.below {
			if !asked[p] && g.sees(p.right("list")) == nil {
				asked[p] = true
				reading.Go(func() error { return s.list(ctx, p) })
			}
		}
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return newView(record, g).rows(targets), ctx.Err()
}

// read reads one object.
func (s *snapshot) read(ctx context.Context, target *target) error {
	requesting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	clients, p := s.tracker.clients, target.place
	example := p.watching().example
	var f found
	if _, ok := example.(*metav1.PartialObjectMetadata); ok {
		object, err := clients.Metadata.Resource(p.resource).Namespace(p.namespace).Get(requesting, target.name, metav1.GetOptions{})
		f = found{object, err}
	} else {
		object, err := clients.Dynamic.Resource(p.resource).Namespace(p.namespace).Get(requesting, target.name, metav1.GetOptions{})
		f = found{nil, err}
		if err == nil {
			f.object, f.err = asWatched(object, example)
		}
	}
	if f.err != nil {
		// A typed nil would pass for an object.
		f.object = nil
	}
	s.tracker.requireVersion(p, f.object)
	s.tracker.endings.observe(f.object)
	if apierrors.IsNotFound(f.err) {
		f.err = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[target] = f
	return ctx.Err()
}

// asWatched converts an object to the type that a watch returns.
func asWatched(object *unstructured.Unstructured, example runtime.Object) (runtime.Object, error) {
	if _, ok := example.(*unstructured.Unstructured); ok {
		return object, nil
	}
	typed := example.DeepCopyObject()
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
}

// list reads all objects of a place.
func (s *snapshot) list(ctx context.Context, p place) error {
	requesting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	w := p.watching()
	l := listed{objects: cache.NewIndexer(cache.MetaNamespaceKeyFunc, w.index)}
	list, err := w.client(s.tracker.clients, p).list(requesting, metav1.ListOptions{})
	if err == nil {
		err = meta.EachListItem(list, func(o runtime.Object) error {
			stripped, err := w.strip(o)
			if err != nil {
				return err
			}
			s.tracker.requireVersion(p, stripped)
			return l.objects.Add(stripped)
		})
	}
	l.err = err
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[p] = l
	return ctx.Err()
}

// indexer implements [lister].
func (s *snapshot) indexer(p place) (cache.Indexer, error) {
	l, ok := s.places[p]
	if !ok {
		return nil, errNotYet
	}
	return l.objects, l.err
}

// object implements [lister].
func (s *snapshot) object(target *target) (runtime.Object, error) {
	f := s.objects[target]
	return f.object, f.err
}

// endOf implements [lister].
func (s *snapshot) endOf(target *target, since time.Time) (End, string) {
	return s.tracker.endings.endOf(target.namespace, target.name, since)
}

// finalState implements [lister]. A snapshot sees no deletions.
func (s *snapshot) finalState(*target) runtime.Object { return nil }

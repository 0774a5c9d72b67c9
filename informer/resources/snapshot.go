package resources

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// readsAtATime bounds the requests of one snapshot.
const readsAtATime = 8

// snapshot is what one call of Snapshot has read.
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
// moment, object by object; Now is for those who ask often. It fails only when
// ctx ends.
func (t *Tracker) Snapshot(ctx context.Context, record *decoder.Record, viewer stream.Viewer) ([]stream.Resource, error) {
	targets := targetsOf(record)
	s := &snapshot{tracker: t, objects: map[*target]found{}, places: map[place]listed{}}
	for _, target := range targets {
		t.locate(ctx, target)
	}
	sight := guarded(s, viewer)
	sight.review(ctx, targets)
	var reading errgroup.Group
	reading.SetLimit(readsAtATime)
	asked := map[place]bool{}
	for _, target := range targets {
		if target.mapping == nil || sight.sees(target.place.right("get")) != nil {
			continue
		}
		reading.Go(func() error { return s.read(ctx, target) })
		for _, p := range target.below {
			if !asked[p] && sight.sees(p.right("list")) == nil {
				asked[p] = true
				reading.Go(func() error { return s.list(ctx, p) })
			}
		}
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return newView(record, sight).rows(targets), ctx.Err()
}

// read asks the API server for one object.
func (s *snapshot) read(ctx context.Context, target *target) error {
	requesting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	clients, p := s.tracker.clients, target.place
	var f found
	if withoutData(p.resource.GroupResource()) {
		object, err := clients.Metadata.Resource(p.resource).Namespace(p.namespace).Get(requesting, target.name, metav1.GetOptions{})
		f = found{object, err}
	} else {
		object, err := clients.Dynamic.Resource(p.resource).Namespace(p.namespace).Get(requesting, target.name, metav1.GetOptions{})
		f = found{nil, err}
		if err == nil {
			f.object, f.err = asWatched(object, p)
		}
	}
	if f.err != nil {
		// A typed nil would pass for an object.
		f.object = nil
	}
	s.tracker.want(p, f.object)
	if apierrors.IsNotFound(f.err) {
		f.err = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[target] = f
	return ctx.Err()
}

// asWatched gives an object the form in which a watch of the place has it.
func asWatched(object *unstructured.Unstructured, p place) (runtime.Object, error) {
	var typed runtime.Object
	switch p.resource {
	case podsResource:
		typed = &corev1.Pod{}
	case claimsResource:
		typed = &corev1.PersistentVolumeClaim{}
	case setsResource:
		typed = &appsv1.ReplicaSet{}
	case jobsResource:
		typed = &batchv1.Job{}
	default:
		return object, nil
	}
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
}

// list asks the API server for all objects of a place.
func (s *snapshot) list(ctx context.Context, p place) error {
	requesting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	l := listed{objects: cache.NewIndexer(cache.MetaNamespaceKeyFunc, p.indexers())}
	list, err := s.tracker.lists(p).list(requesting, metav1.ListOptions{})
	if err == nil {
		err = meta.EachListItem(list, func(o runtime.Object) error {
			stripped, err := strip(o)
			if err != nil {
				return err
			}
			s.tracker.want(p, stripped)
			return l.objects.Add(stripped)
		})
	}
	l.err = err
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[p] = l
	return ctx.Err()
}

// at implements [sight].
func (s *snapshot) at(p place) (cache.Indexer, error) {
	l, ok := s.places[p]
	if !ok {
		return nil, errNotYet
	}
	return l.objects, l.err
}

// object implements [sight].
func (s *snapshot) object(target *target) (runtime.Object, error) {
	f := s.objects[target]
	return f.object, f.err
}

// last implements [sight]. What is gone was not seen.
func (s *snapshot) last(*target) runtime.Object { return nil }

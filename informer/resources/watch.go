package resources

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// sharedWatch is a watch and its readers.
type sharedWatch struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	ended    chan struct{}
	// known is closed when the objects are known, or why they are not.
	known chan struct{}

	mu      sync.Mutex
	once    sync.Once
	err     error
	readers map[chan struct{}]int
	idle    *time.Timer // ends the watch; nil while it has readers
	// brought is the newest version of an object that the watch has brought,
	// wanted that of one that was read beside it.
	brought, wanted uint64
	// gone holds how some objects were when they were deleted, nil for those
	// that were not.
	gone map[string]runtime.Object
}

// join adds a reader to the watch of p, which begins if it is the first. Wake
// gets a value, if it has room, after every change.
func (t *Tracker) join(p place, wake chan struct{}) *sharedWatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.watches[p]
	if w == nil {
		w = t.begin(p)
		t.watches[p] = w
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle != nil {
		w.idle.Stop()
		w.idle = nil
	}
	w.readers[wake]++
	return w
}

// leave takes one reader away. Some time after the last one the watch ends.
func (t *Tracker) leave(p place, w *sharedWatch, wake chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers[wake]--; w.readers[wake] == 0 {
		delete(w.readers, wake)
	}
	switch {
	case len(w.readers) > 0:
	case t.closed:
		t.end(p, w)
	default:
		w.idle = time.AfterFunc(t.linger, func() { t.endIdle(p, w) })
	}
}

// endIdle ends a watch unless somebody reads it again.
func (t *Tracker) endIdle(p place, w *sharedWatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.readers) == 0 && t.watches[p] == w {
		t.end(p, w)
	}
}

// end ends a watch without waiting for it. It is called under both locks.
func (t *Tracker) end(p place, w *sharedWatch) {
	delete(t.watches, p)
	w.stop()
	t.ending.Go(func() { <-w.ended })
}

// Close ends the watches that nobody reads, and waits for them. Those that are
// read end with their last reader.
func (t *Tracker) Close() {
	t.mu.Lock()
	t.closed = true
	for p, w := range t.watches {
		w.mu.Lock()
		if len(w.readers) == 0 {
			w.idle.Stop()
			t.end(p, w)
		}
		w.mu.Unlock()
	}
	t.mu.Unlock()
	t.ending.Wait()
}

func (t *Tracker) begin(p place) *sharedWatch {
	ctx, stop := context.WithCancel(context.Background())
	w := &sharedWatch{
		stop: stop, ended: make(chan struct{}), known: make(chan struct{}),
		readers: map[chan struct{}]int{}, gone: map[string]runtime.Object{},
	}
	lists := t.lists(p)
	w.informer = cache.NewSharedIndexInformer(&source{ctx: ctx, lists: lists, note: w.note}, lists.example, 0, p.indexers())
	go func() {
		defer close(w.ended)
		w.run(ctx)
	}()
	return w
}

func (w *sharedWatch) run(ctx context.Context) {
	// None of the three can fail before the informer runs.
	_ = w.informer.SetTransform(strip)
	_ = w.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	handler, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.bury(o, false); w.bring(o); w.changed() },
		UpdateFunc: func(_, o any) { w.bring(o); w.changed() },
		DeleteFunc: func(o any) { w.bury(o, true); w.bring(o); w.changed() },
	})
	if err != nil {
		w.note(err)
		return
	}
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			w.once.Do(func() { close(w.known) })
			w.changed()
		}
	})
	w.informer.RunWithContext(ctx)
}

// changed wakes the readers.
func (w *sharedWatch) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wake := range w.readers {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// note takes the outcome of the newest request.
func (w *sharedWatch) note(err error) {
	w.mu.Lock()
	was := w.err
	w.err = err
	w.mu.Unlock()
	if err != nil {
		w.once.Do(func() { close(w.known) })
	}
	if (was == nil) != (err == nil) {
		w.changed()
	}
}

// remember has the last state of an object kept when it is deleted.
func (w *sharedWatch) remember(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key := storeKey(namespace, name); w.gone[key] == nil {
		w.gone[key] = nil
	}
}

// bury keeps the last state of an object that is to be remembered, until there
// is another of its name.
func (w *sharedWatch) bury(o any, deleted bool) {
	if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = tombstone.Obj
	}
	named, isNamed := o.(metav1.Object)
	object, isObject := o.(runtime.Object)
	if !isNamed || !isObject {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := storeKey(named.GetNamespace(), named.GetName())
	if _, ok := w.gone[key]; !ok {
		return
	}
	w.gone[key] = nil
	if deleted {
		w.gone[key] = object
	}
}

// last returns how an object was when it was deleted, nil if that is not known.
func (w *sharedWatch) last(namespace, name string) runtime.Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone[storeKey(namespace, name)]
}

// objects returns the objects as the watch knows them, or why it does not.
// While the API server does not answer, or is too busy, that is what it knew
// before; not so once the right to see them, or their kind, is gone.
func (w *sharedWatch) objects() (cache.Indexer, error) {
	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	synced := w.informer.HasSynced()
	if err != nil && (!synced || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)) {
		return nil, err
	}
	if !synced {
		return nil, errNotYet
	}
	return w.informer.GetIndexer(), nil
}

// find returns one of the objects, nil if it is not among them.
func find(objects cache.Indexer, namespace, name string) (runtime.Object, error) {
	found, exists, err := objects.GetByKey(storeKey(namespace, name))
	if err != nil || !exists {
		return nil, err
	}
	return found.(runtime.Object), nil
}

// storeKey is the name under which client-go stores an object.
func storeKey(namespace, name string) string {
	return cache.ObjectName{Namespace: namespace, Name: name}.String()
}

// source is where a watch gets its objects from. It ends its requests with ctx
// and notes how they fared.
type source struct {
	ctx   context.Context
	lists lists
	note  func(error)
}

// List implements [cache.Lister].
func (s *source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(s.ctx, o)
}

// Watch implements [cache.Watcher].
func (s *source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(s.ctx, o)
}

// ListWithContext implements [cache.ListerWithContext].
func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	list, err := s.lists.list(ctx, o)
	s.note(err)
	return list, err
}

// WatchWithContext implements [cache.WatcherWithContext].
func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := s.lists.watch(ctx, o)
	s.note(err)
	return w, err
}

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
	endings  *endings // of the tracker
	stop     context.CancelFunc
	ended    chan struct{}
	// known is closed when the objects are known, or the reason why they are not.
	known chan struct{}

	mu      sync.Mutex
	once    sync.Once
	err     error
	readers map[chan struct{}]int
	idle    *time.Timer // ends the watch; nil while it has readers
	// observed is the newest resource version that the watch has delivered,
	// required the newest one that another request has returned.
	observed, required uint64
	// finalStates holds the last state of deleted objects, by key. Only keys in it
	// are kept; the value is nil while the object exists.
	finalStates map[string]runtime.Object
}

// join adds a reader to the watch of p, and starts the watch for the first one.
// Every change sends a value to wake unless it is full.
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

// leave removes one reader. Some time after the last one the watch ends.
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

// endIdle ends a watch unless it has a reader again.
func (t *Tracker) endIdle(p place, w *sharedWatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.readers) == 0 && t.watches[p] == w {
		t.end(p, w)
	}
}

// end ends a watch without waiting for it. The caller holds both locks.
func (t *Tracker) end(p place, w *sharedWatch) {
	delete(t.watches, p)
	w.stop()
	t.ending.Go(func() { <-w.ended })
}

// Close ends the watches without readers and waits for them. The others end with
// their last reader.
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
		endings: &t.endings, stop: stop, ended: make(chan struct{}), known: make(chan struct{}),
		readers: map[chan struct{}]int{}, finalStates: map[string]runtime.Object{},
	}
	watching := p.watching()
	w.informer = cache.NewSharedIndexInformer(
		&requests{ctx: ctx, listWatch: watching.client(t.clients, p), note: w.note}, watching.example, 0, watching.index)
	go func() {
		defer close(w.ended)
		w.run(ctx, watching.strip)
	}()
	return w
}

func (w *sharedWatch) run(ctx context.Context, strip cache.TransformFunc) {
	// None of the three can fail before the informer runs.
	_ = w.informer.SetTransform(strip)
	_ = w.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	handler, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.setFinalState(o, false); w.endings.observe(o); w.observeVersion(o); w.changed() },
		UpdateFunc: func(_, o any) { w.endings.observe(o); w.observeVersion(o); w.changed() },
		DeleteFunc: func(o any) { w.setFinalState(o, true); w.endings.observeDeleted(o); w.observeVersion(o); w.changed() },
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

// note records the outcome of the last request.
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

// keepFinalState makes the watch keep an object's last state when it is deleted.
func (w *sharedWatch) keepFinalState(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key := storeKey(namespace, name); w.finalStates[key] == nil {
		w.finalStates[key] = nil
	}
}

// setFinalState keeps the last state of an object if it is deleted, and drops that
// of an earlier object of its name if not.
func (w *sharedWatch) setFinalState(o any, deleted bool) {
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
	if _, ok := w.finalStates[key]; !ok {
		return
	}
	w.finalStates[key] = nil
	if deleted {
		w.finalStates[key] = object
	}
}

// finalState returns a deleted object in its last state, or nil if that is not
// known.
func (w *sharedWatch) finalState(namespace, name string) runtime.Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finalStates[storeKey(namespace, name)]
}

// objects returns the objects that the watch has delivered, or the reason why it
// has none. They are kept while the API server does not answer or is too busy,
// but not after the permission to see them, or their kind, is gone.
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

// find returns an object by its name, nil if there is none.
func find(objects cache.Indexer, namespace, name string) (runtime.Object, error) {
	found, exists, err := objects.GetByKey(storeKey(namespace, name))
	if err != nil || !exists {
		return nil, err
	}
	return found.(runtime.Object), nil
}

// storeKey returns the key under which client-go stores an object.
func storeKey(namespace, name string) string {
	return cache.ObjectName{Namespace: namespace, Name: name}.String()
}

// requests makes the requests of a watch. It ends them with ctx and notes their
// outcomes.
type requests struct {
	ctx       context.Context
	listWatch listWatch
	note      func(error)
}

// List implements [cache.Lister].
func (r *requests) List(o metav1.ListOptions) (runtime.Object, error) {
	return r.ListWithContext(r.ctx, o)
}

// Watch implements [cache.Watcher].
func (r *requests) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return r.WatchWithContext(r.ctx, o)
}

// ListWithContext implements [cache.ListerWithContext].
func (r *requests) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	list, err := r.listWatch.list(ctx, o)
	r.note(err)
	return list, err
}

// WatchWithContext implements [cache.WatcherWithContext].
func (r *requests) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := r.listWatch.watch(ctx, o)
	r.note(err)
	return w, err
}

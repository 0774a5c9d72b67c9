package resources

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// place is what one watch covers: a kind in a namespace, or a kind of the
// whole cluster.
type place struct {
	resource  schema.GroupVersionResource
	namespace string
}

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
	w.readers[wake]++
	w.mu.Unlock()
	return w
}

// leave takes one reader away. With the last one the watch ends, for which
// leave waits.
func (t *Tracker) leave(p place, w *sharedWatch, wake chan struct{}) {
	t.mu.Lock()
	w.mu.Lock()
	if w.readers[wake]--; w.readers[wake] == 0 {
		delete(w.readers, wake)
	}
	last := len(w.readers) == 0
	w.mu.Unlock()
	if last {
		delete(t.watches, p)
	}
	t.mu.Unlock()
	if last {
		w.stop()
		<-w.ended
	}
}

func (t *Tracker) begin(p place) *sharedWatch {
	ctx, stop := context.WithCancel(context.Background())
	w := &sharedWatch{
		stop: stop, ended: make(chan struct{}), known: make(chan struct{}), readers: map[chan struct{}]int{},
	}
	source := &source{ctx: ctx, note: w.note}
	var example runtime.Object
	if withoutData(p.resource.GroupResource()) {
		client := t.clients.Metadata.Resource(p.resource).Namespace(p.namespace)
		example = &metav1.PartialObjectMetadata{}
		source.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }
		source.watch = client.Watch
	} else {
		client := t.clients.Dynamic.Resource(p.resource).Namespace(p.namespace)
		example = &unstructured.Unstructured{}
		source.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }
		source.watch = client.Watch
	}
	w.informer = cache.NewSharedIndexInformer(source, example, 0, cache.Indexers{})
	go func() {
		defer close(w.ended)
		w.run(ctx)
	}()
	return w
}

func (w *sharedWatch) run(ctx context.Context) {
	changed := func() { w.changed() }
	// None of the three can fail before the informer runs.
	_ = w.informer.SetTransform(strip)
	_ = w.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	handler, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed() },
		UpdateFunc: func(any, any) { changed() },
		DeleteFunc: func(any) { changed() },
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

// get returns an object as the watch knows it, nil if there is none. While the
// API server does not answer, that is what it knew before.
func (w *sharedWatch) get(namespace, name string) (runtime.Object, error) {
	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	synced := w.informer.HasSynced()
	if err != nil && (!synced || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown) {
		return nil, err
	}
	if !synced {
		return nil, errNotYet
	}
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	found, exists, err := w.informer.GetStore().GetByKey(key)
	if err != nil || !exists {
		return nil, err
	}
	return found.(runtime.Object), nil
}

// strip drops what no row needs and what is often half of an object.
func strip(o any) (any, error) {
	if object, ok := o.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return o, nil
}

// source is where a watch gets its objects from. It ends its requests with ctx
// and notes how they fared.
type source struct {
	ctx   context.Context
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
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
	list, err := s.list(ctx, o)
	s.note(err)
	return list, err
}

// WatchWithContext implements [cache.WatcherWithContext].
func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := s.watch(ctx, o)
	s.note(err)
	return w, err
}

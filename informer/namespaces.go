package informer

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

var namespacesResource = corev1.SchemeGroupVersion.WithResource("namespaces")

// clusterNamespace is the namespace whose UID identifies the cluster.
const clusterNamespace = metav1.NamespaceSystem

// namespaces holds the UIDs of the watched namespaces. They distinguish a namespace
// from a later one of the same name.
type namespaces struct {
	metadata metadata.Interface
	watched  []string // none for all

	mu    sync.Mutex
	known map[string]namespaceState
	// open counts the open watches, parts all watches.
	open, parts int
	// answered is closed once it is known whether namespaces may be watched.
	answered  chan struct{}
	once      sync.Once
	forbidden bool
}

// namespaceState is the state of a namespace.
type namespaceState struct {
	uid string
	// ending means that it is being deleted; another of its name may follow.
	ending bool
}

func newNamespaces(metadata metadata.Interface, watched []string) *namespaces {
	return &namespaces{metadata: metadata, watched: watched, known: map[string]namespaceState{}, answered: make(chan struct{})}
}

// run watches until ctx ends.
func (n *namespaces) run(ctx context.Context) error {
	selectors := []fields.Selector{fields.Everything()}
	if len(n.watched) > 0 {
		selectors = nil
		for _, name := range n.watched {
			selectors = append(selectors, fields.OneTermEqualSelector(metav1.ObjectNameField, name))
		}
	}
	n.mu.Lock()
	n.parts = len(selectors)
	n.mu.Unlock()
	var running sync.WaitGroup
	defer running.Wait()
	for _, selector := range selectors {
		informer, err := n.informer(selector.String())
		if err != nil {
			return fmt.Errorf("watch namespaces: %w", err)
		}
		running.Go(func() { informer.RunWithContext(ctx) })
		running.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				n.answer(false)
			}
		})
	}
	return nil
}

func (n *namespaces) informer(selector string) (cache.SharedIndexInformer, error) {
	client := n.metadata.Resource(namespacesResource)
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			w, err := client.Watch(ctx, o)
			if err != nil {
				return nil, err
			}
			n.addOpen(1)
			return &openNamespaces{w, sync.OnceFunc(func() { n.addOpen(-1) })}, nil
		},
	}, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	if err := informer.SetTransform(slimNamespace); err != nil {
		return nil, err
	}
	// The watch of the releases reports an unreachable cluster.
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) {
			n.answer(true)
		}
	})
	if err == nil {
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    n.set,
			UpdateFunc: func(_, object any) { n.set(object) },
			DeleteFunc: n.unset,
		})
	}
	return informer, err
}

// openNamespaces is a watch. The reflector calls Stop on each one.
type openNamespaces struct {
	watch.Interface
	ended func()
}

// Stop implements [watch.Interface].
func (o *openNamespaces) Stop() {
	o.ended()
	o.Interface.Stop()
}

func (n *namespaces) addOpen(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open += more
}

// slimNamespace is the informer's transform. It keeps the little that is needed.
func slimNamespace(object any) (any, error) {
	if full, ok := object.(*metav1.PartialObjectMetadata); ok {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion, DeletionTimestamp: full.DeletionTimestamp,
		}}, nil
	}
	return object, nil
}

func (n *namespaces) answer(forbidden bool) {
	n.once.Do(func() {
		n.mu.Lock()
		n.forbidden = forbidden
		n.mu.Unlock()
		close(n.answered)
	})
}

func (n *namespaces) set(object any) {
	if namespace, ok := object.(*metav1.PartialObjectMetadata); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.known[namespace.Name] = namespaceState{string(namespace.UID), namespace.DeletionTimestamp != nil}
	}
}

func (n *namespaces) unset(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if namespace, ok := object.(*metav1.PartialObjectMetadata); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.known[namespace.Name].uid == string(namespace.UID) {
			delete(n.known, namespace.Name)
		}
	}
}

// ask reads a namespace's UID from the API server. It is "" if there is no such
// namespace or if it is forbidden.
func (n *namespaces) ask(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	namespace, err := n.metadata.Resource(namespacesResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read namespace %s: %w", name, err)
	}
	return string(namespace.UID), nil
}

// UID returns the UID of the cluster, which is that of its namespace kube-system;
// "" if reading it is forbidden. It asks the API server.
func (c *Cluster) UID(ctx context.Context) (string, error) {
	return c.namespaces.ask(ctx, clusterNamespace)
}

// NamespaceUID returns the UID that a namespace has now. It is "" if there is no
// such namespace, or if namespaces may not be watched: a UID that is not known
// throughout would make one lineage look like two. NamespaceUID blocks until it is
// clear whether namespaces may be watched. It asks the API server if the namespace
// is unknown or is being deleted, and while a watch is not open.
func (c *Cluster) NamespaceUID(ctx context.Context, namespace string) (string, error) {
	n := c.namespaces
	select {
	case <-n.answered:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	n.mu.Lock()
	forbidden, state, open := n.forbidden, n.known[namespace], n.open == n.parts
	n.mu.Unlock()
	switch {
	case forbidden:
		return "", nil
	case state.uid != "" && !state.ending && open:
		return state.uid, nil
	}
	return n.ask(ctx, namespace)
}

// NamespacesKnown reports whether the watch has listed the namespaces, or is
// forbidden. It reads from memory.
func (c *Cluster) NamespacesKnown() bool {
	select {
	case <-c.namespaces.answered:
		return true
	default:
		return false
	}
}

// KnownNamespaceUID returns a namespace's UID from the watch, or "" if it is
// unknown. It reads from memory.
func (c *Cluster) KnownNamespaceUID(namespace string) string {
	c.namespaces.mu.Lock()
	defer c.namespaces.mu.Unlock()
	return c.namespaces.known[namespace].uid
}

package informer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
)

// Watcher keeps the index of a cluster's releases and tells their transitions.
type Watcher struct {
	secrets   corev1client.SecretsGetter
	metadata  metadata.Interface
	log       *slog.Logger
	health    *health
	observers *observers
	fetcher   *fetcher // made by Run, before anything uses it
	synced    chan struct{}

	mu      sync.Mutex
	index   index
	ignored uint64
}

func newWatcher(secrets corev1client.SecretsGetter, metadata metadata.Interface, log *slog.Logger) *Watcher {
	return &Watcher{
		secrets:   secrets,
		metadata:  metadata,
		log:       log,
		health:    &health{log: log},
		observers: newObservers(),
		synced:    make(chan struct{}),
		// A version must not come back after a restart with another meaning.
		index: newIndex(uint64(time.Now().UnixNano())),
	}
}

// Run watches until ctx ends, then stops all that it started and returns nil.
// It blocks and may be called once.
func (w *Watcher) Run(ctx context.Context) error {
	informer := cache.NewSharedIndexInformer(
		&inventory{ctx: ctx, secrets: w.secrets, metadata: w.metadata, health: w.health},
		&corev1.Secret{}, 0, cache.Indexers{},
	)
	if err := informer.SetTransform(reduce); err != nil {
		return fmt.Errorf("watch releases: %w", err)
	}
	// The inventory has told health already; client-go would only log it again.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return fmt.Errorf("watch releases: %w", err)
	}
	handler, err := informer.AddEventHandler(&changes{w: w})
	if err != nil {
		return fmt.Errorf("watch releases: %w", err)
	}

	w.fetcher = newFetcher()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { w.observers.run(ctx) })
	running.Go(func() { w.fetcher.run(ctx, w.fetch) })
	running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			close(w.synced)
			w.backfill()
		}
	})
	informer.RunWithContext(ctx)
	return nil
}

// Synced is closed once the index holds what the cluster had when Run began.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// Health tells how the watch fares.
func (w *Watcher) Health() Health {
	h := Health{Synced: w.isSynced()}
	h.Reachable, h.Error = w.health.get()
	w.mu.Lock()
	defer w.mu.Unlock()
	h.Ignored = w.ignored
	return h
}

func (w *Watcher) isSynced() bool {
	select {
	case <-w.synced:
		return true
	default:
		return false
	}
}

// Latest returns the highest revision of each release in the namespace, "" for
// all namespaces, sorted by namespace and name. It comes from memory. The
// caller must not change the slice.
func (w *Watcher) Latest(namespace string) []*decoder.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.list(namespace)
}

// Revisions returns all revisions of a release that are in the cluster, lowest
// first, none if there is no such release. It comes from memory.
func (w *Watcher) Revisions(namespace, name string) []*decoder.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.index.releases[releaseKey{namespace, name}]
	if r == nil || name == "" {
		return nil
	}
	revisions := make([]*decoder.Revision, 0, len(r.entries))
	for _, e := range r.entries {
		revisions = append(revisions, e.rev)
	}
	return revisions
}

// Version changes with every change of what Latest and Revisions return, and
// grows from one start of the process to the next.
func (w *Watcher) Version() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.version
}

// Observe implements [github.com/helmtrail/helmtrail/stream.Cluster]. Stop waits
// for a call of f that is under way, so f itself must not call it, nor may the
// caller hold a lock that f takes.
func (w *Watcher) Observe(namespace, name string, f func(decoder.Transition)) (stop func()) {
	return w.observers.observe(releaseKey{namespace, name}, f)
}

// ObserveAll is Observe for every release of the cluster.
func (w *Watcher) ObserveAll(f func(decoder.Transition)) (stop func()) {
	return w.observers.observeAll(f)
}

// changes receives the informer's notifications, one at a time and in order.
type changes struct{ w *Watcher }

// OnAdd implements [cache.ResourceEventHandler].
func (c *changes) OnAdd(object any, inInitialList bool) {
	if s, ok := object.(*secret); ok {
		c.stored(s, inInitialList)
	}
}

// OnUpdate implements [cache.ResourceEventHandler]. The old state is the
// index's own: unlike the informer's it may have been read since.
func (c *changes) OnUpdate(_, object any) {
	if s, ok := object.(*secret); ok {
		c.stored(s, false)
	}
}

func (c *changes) stored(s *secret, inventory bool) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.foreign {
		w.ignored++
	}
	fetch, told := w.index.stored(s, inventory, time.Now())
	w.tell(told)
	switch {
	case fetch:
		w.fetcher.urgent.Add(s.key())
	case !inventory:
		w.wantNewest(s.revision)
	}
}

// OnDelete implements [cache.ResourceEventHandler]. A delete that the watch
// missed comes as a value that wraps the last state known to the informer, or
// nothing; its key is enough.
func (c *changes) OnDelete(object any) {
	late := false
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		late, object = true, tombstone.Obj
		if _, ok := object.(*secret); !ok {
			namespace, name, err := cache.SplitMetaNamespaceKey(tombstone.Key)
			if err != nil {
				c.w.log.Warn("a delete without a name was ignored", "error", err)
				return
			}
			s := &secret{}
			s.Namespace, s.Name = namespace, name
			object = s
		}
	}
	s, ok := object.(*secret)
	if !ok {
		return
	}
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.index.secrets[s.key()]
	if e == nil {
		return
	}
	w.tell(w.index.deleted(s, late, time.Now()))
	w.wantNewest(e.rev)
}

// tell queues transitions for the observers. It is called under w.mu, so that
// they are told in the order of the index.
func (w *Watcher) tell(transitions []decoder.Transition) {
	for _, t := range transitions {
		w.observers.add(t)
	}
}

// wantNewest has the record of a release's newest revision fetched when it is
// known from its label only. It is called under w.mu.
func (w *Watcher) wantNewest(rev *decoder.Revision) {
	if r := w.index.releases[releaseOf(rev)]; r != nil {
		if top := r.top(); top != nil && !top.read {
			w.fetcher.backfill.Add(keyOf(top.rev))
		}
	}
}

// backfill has the newest revision of every release read, those first that
// were made last.
func (w *Watcher) backfill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var unread []*decoder.Revision
	for k, r := range w.index.releases {
		for _, e := range r.entries {
			// Without a name in the metadata only the record can tell.
			if !e.read && (e == r.top() || k.name == "") {
				unread = append(unread, e.rev)
			}
		}
	}
	slices.SortFunc(unread, func(a, b *decoder.Revision) int { return b.Created.Compare(a.Created) })
	for _, rev := range unread {
		w.fetcher.backfill.Add(keyOf(rev))
	}
}

// Newest implements [stream.Cluster].
func (w *Watcher) Newest(namespace, name string) *decoder.Revision {
	revisions := w.Revisions(namespace, name)
	if len(revisions) == 0 {
		return nil
	}
	return revisions[len(revisions)-1]
}

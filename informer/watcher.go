package informer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// Watcher keeps the index of a cluster's releases and notifies observers of their
// transitions.
type Watcher struct {
	secrets   corev1client.SecretsGetter
	metadata  metadata.Interface
	log       *slog.Logger
	parts     []*part
	observers *observers
	describer describer
	keeper    audit.Keeper // nil without a trail
	fetcher   *fetcher     // created by Run before anything uses it
	synced    chan struct{}

	mu      sync.Mutex
	index   index
	ignored uint64
}

// part is the watch of one namespace, or of all ("").
type part struct {
	namespace string
	health    *requestHealth
	synced    chan struct{} // closed once
}

// newWatcher returns a Watcher of the namespaces, of all if there are none.
func newWatcher(secrets corev1client.SecretsGetter, metadata metadata.Interface, namespaces []string, log *slog.Logger) *Watcher {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	parts := make([]*part, 0, len(namespaces))
	for _, namespace := range namespaces {
		parts = append(parts, &part{namespace: namespace, health: &requestHealth{log: log}, synced: make(chan struct{})})
	}
	return &Watcher{
		secrets:   secrets,
		metadata:  metadata,
		log:       log,
		parts:     parts,
		observers: newObservers(),
		synced:    make(chan struct{}),
		// A version must not be reused with another meaning after a restart.
		index: newIndex(uint64(time.Now().UnixNano())),
	}
}

// Run watches until ctx ends, stops everything that it started and returns nil. It
// blocks and may be called once.
func (w *Watcher) Run(ctx context.Context) error {
	informers := make([]cache.SharedIndexInformer, 0, len(w.parts))
	synced := make([]cache.InformerSynced, 0, len(w.parts))
	for _, p := range w.parts {
		informer, handler, err := w.informer(ctx, p)
		if err != nil {
			return fmt.Errorf("watch releases: %w", err)
		}
		informers, synced = append(informers, informer), append(synced, handler.HasSynced)
	}

	w.fetcher = newFetcher()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { w.observers.run(ctx) })
	running.Go(func() { w.fetcher.run(ctx, w.fetch) })
	for i, p := range w.parts {
		running.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), synced[i]) {
				close(p.synced)
				w.observers.add(notice{keep: func(k audit.Keeper) { k.Synced(p.namespace) }})
			}
		})
		running.Go(func() { informers[i].RunWithContext(ctx) })
	}
	running.Go(func() {
		for _, p := range w.parts {
			select {
			case <-p.synced:
			case <-ctx.Done():
				return
			}
		}
		close(w.synced)
		w.backfill()
	})
	<-ctx.Done()
	return nil
}

// informer returns the informer of one part.
func (w *Watcher) informer(ctx context.Context, p *part) (cache.SharedIndexInformer, cache.ResourceEventHandlerRegistration, error) {
	informer := cache.NewSharedIndexInformer(
		&inventory{
			ctx: ctx, namespace: p.namespace, secrets: w.secrets, metadata: w.metadata, health: p.health,
			missed: func(from time.Time) {
				w.observers.add(notice{keep: func(k audit.Keeper) { k.Missed(p.namespace, from) }})
			},
		},
		&corev1.Secret{}, 0, cache.Indexers{},
	)
	if err := informer.SetTransform(w.reduce); err != nil {
		return nil, nil, err
	}
	// The inventory has reported to health; client-go would only log it again.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return nil, nil, err
	}
	handler, err := informer.AddEventHandler(&changes{w: w})
	return informer, handler, err
}

// Synced returns a channel that is closed once the index holds all releases that
// existed when Run began.
func (w *Watcher) Synced() <-chan struct{} { return w.synced }

// Health returns the state of the watch. With several namespaces it is reachable if
// one is, synced if all are, and has the first error.
func (w *Watcher) Health() Health {
	h := w.health(w.parts)
	w.mu.Lock()
	defer w.mu.Unlock()
	h.Ignored = w.ignored
	return h
}

// HealthIn returns the state of the watch of one namespace, and false if it is not
// watched.
func (w *Watcher) HealthIn(namespace string) (Health, bool) {
	for i, p := range w.parts {
		if p.namespace == namespace || p.namespace == metav1.NamespaceAll {
			return w.health(w.parts[i : i+1]), true
		}
	}
	return Health{}, false
}

func (w *Watcher) health(parts []*part) Health {
	h := Health{Synced: true, Asked: true}
	for _, p := range parts {
		reachable, problem := p.health.get()
		h.Reachable = h.Reachable || reachable
		if h.Error == "" {
			h.Error = problem
		}
		asked, lists := p.health.counts()
		h.Asked = h.Asked && asked
		h.Restarts += lists
		select {
		case <-p.synced:
		default:
			h.Synced = false
		}
	}
	return h
}

// Latest returns the highest revision of each release in the namespace, "" for
// all namespaces, sorted by namespace and name. It reads from memory. The
// caller must not change the slice.
func (w *Watcher) Latest(namespace string) []*decoder.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.list(namespace)
}

// Revisions returns all revisions of a release that are in the cluster, lowest
// first; none if there is no such release. It reads from memory.
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

// Version grows with every change of the results of Latest and Revisions, and from
// one start of the process to the next.
func (w *Watcher) Version() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.version
}

// Observe implements the engine's Cluster. Stop waits
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

// OnUpdate implements [cache.ResourceEventHandler]. The index has the old state;
// unlike the informer's it may have been read since.
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
	fetch, ready := w.index.stored(s, inventory, time.Now())
	w.notify(ready)
	switch {
	case fetch:
		w.fetcher.urgent.Add(s.key())
	case !inventory:
		w.wantNewest(s.revision)
	}
}

// OnDelete implements [cache.ResourceEventHandler]. A delete that the watch
// missed comes as a tombstone, with the informer's last state or with nothing but
// the key.
func (c *changes) OnDelete(object any) {
	late := false
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		late, object = true, tombstone.Obj
		if _, ok := object.(*secret); !ok {
			namespace, name, err := cache.SplitMetaNamespaceKey(tombstone.Key)
			if err != nil {
				c.w.log.Warn("ignoring a delete without a name", "error", err)
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
	w.notify(w.index.deleted(s, late, time.Now()))
	w.wantNewest(e.rev)
}

// notify queues transitions for the observers. The caller holds w.mu, so that they
// arrive in the order of the index.
func (w *Watcher) notify(transitions []decoder.Transition) {
	for _, t := range transitions {
		w.observers.add(notice{transition: t})
	}
}

// wantNewest queues the record of a release's newest revision for reading if only
// its label is known. The caller holds w.mu.
func (w *Watcher) wantNewest(rev *decoder.Revision) {
	if r := w.index.releases[releaseOf(rev)]; r != nil {
		if top := r.top(); top != nil && !top.read {
			w.fetcher.backfill.Add(keyOf(top.rev))
		}
	}
}

// backfill queues the newest revision of every release for reading, in the order
// newest Secret first.
func (w *Watcher) backfill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var unread []*decoder.Revision
	for k, r := range w.index.releases {
		for _, e := range r.entries {
			// Without a name in the metadata only the record can have one.
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

// Newest implements the engine's Cluster.
func (w *Watcher) Newest(namespace, name string) *decoder.Revision {
	revisions := w.Revisions(namespace, name)
	if len(revisions) == 0 {
		return nil
	}
	return revisions[len(revisions)-1]
}

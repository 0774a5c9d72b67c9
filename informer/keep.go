package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// Keep registers the keeper, which is notified of everything that the watch sees.
// It must be called at most once, before Run.
func (w *Watcher) Keep(keeper audit.Keeper) {
	w.keeper = keeper
	w.observers.keep(keeper)
}

// All returns all revisions in a namespace, "" for all namespaces, in no
// particular order. It reads from memory.
func (w *Watcher) All(namespace string) []*decoder.Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*decoder.Revision
	for _, e := range w.index.secrets {
		if e.rev.Name != "" && (namespace == metav1.NamespaceAll || namespace == e.rev.Namespace) {
			all = append(all, e.rev)
		}
	}
	return all
}

// Want queues the record of a revision for reading if only its label is known. The
// keeper is notified once it is read. Want does not block, and must not be called
// before the keeper was notified that the namespace is synced.
func (w *Watcher) Want(revision *decoder.Revision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.index.secrets[keyOf(revision)]; e != nil && !e.read {
		w.fetcher.backfill.Add(keyOf(revision))
	}
}

// Watching reports whether the watch of a namespace, "" for all, is currently
// known to be open.
func (w *Watcher) Watching(namespace string) bool {
	health, ok := w.HealthIn(namespace)
	return ok && health.Reachable && health.Synced
}

package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// Keep has a keeper told all that the watch learns. It must be called before
// Run, and once.
func (w *Watcher) Keep(keeper stream.Keeper) {
	w.keeper = keeper
	w.observers.keep(keeper)
}

// All returns all revisions in a namespace, "" for all namespaces, in no order.
// It comes from memory.
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

// Want has the record of a revision read, when there is time, if it is known
// from its label only; the keeper is told then. It does not block, and must not
// be called before the keeper has been told that the namespace is synced.
func (w *Watcher) Want(revision *decoder.Revision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.index.secrets[keyOf(revision)]; e != nil && !e.read {
		w.fetcher.backfill.Add(keyOf(revision))
	}
}

// Watching tells whether the watch of a namespace, "" for all, is open as far
// as is known.
func (w *Watcher) Watching(namespace string) bool {
	health, ok := w.HealthIn(namespace)
	return ok && health.Reachable && health.Synced
}

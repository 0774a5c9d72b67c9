// Package informer knows Kubernetes clusters and watches the releases in them.
//
// A [Cluster] keeps an index of every release Secret in memory, without the
// records' bytes, and tells observers each transition of each revision.
//
// What it costs. The inventory is one LIST of metadata (labels and names, no
// data), the changes come through one WATCH of full Secrets from the list's
// resource version on. Each state's bytes pass through once, are reduced to a
// [decoder.Revision] before anything queues up, and are dropped. Owner and type
// are selected by the API server, so no other Secret is ever asked for.
//
// Ordering. The transitions of one release arrive in the order in which its
// Secrets were written; those of different releases may overtake each other.
// Observers are called one transition at a time from one goroutine of the
// cluster, so a slow observer delays all others: it must hand over and return.
// The index never lags behind the transitions that were told.
//
// After a gap. What changed while no watch was open is found by listing again.
// A list has no data, so each changed Secret is fetched; the transitions of its
// release wait for that, and are marked late. A state that was overwritten
// before it could be fetched is told from its label. The same state of the same
// Secret is never told twice.
//
// Shutdown. Run returns after all goroutines of the cluster have ended;
// transitions not yet told are dropped, since the next inventory shows their
// result. Methods that ask the API server keep working without Run.
package informer

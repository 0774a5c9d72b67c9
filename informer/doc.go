// Package informer knows Kubernetes clusters and watches the releases in them.
//
// A [Cluster] keeps an index of every release Secret in memory, without the
// records' bytes, and notifies observers of each transition of each revision.
//
// Cost. The inventory is one LIST of metadata (labels and names, no data). The
// changes come through one WATCH of full Secrets that starts at the list's
// resource version. The bytes of each state pass through once: they are reduced
// to a [decoder.Revision] before anything queues up, and are dropped. The API
// server selects by owner and type, so no other Secret is ever requested.
//
// Ordering. The transitions of one release arrive in the order in which its
// Secrets were written; those of different releases may overtake each other.
// Observers are called one transition at a time from one goroutine of the
// cluster, so a slow observer delays all others: it must hand over and return.
// The index never lags behind the transitions that observers have seen.
//
// Gaps. Changes made while no watch was open are found by listing again. A list
// has no data, so each changed Secret is fetched; the transitions of its release
// wait for that, and are marked late. If a state was overwritten before it could
// be fetched, its transition is made from the label. Observers never see the same
// state of the same Secret twice.
//
// Shutdown. Run returns after all goroutines of the cluster have ended.
// Transitions that observers have not seen are dropped, since the next inventory
// shows their result. Methods that ask the API server keep working without Run.
package informer

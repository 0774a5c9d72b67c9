// Package stream is the engine: it runs Helm operations as sessions and merges
// what happens to a release into one ordered stream of events per session.
//
// [Operations] starts sessions, watches for operations that others start, and
// opens the logs of all of them. Package helmcli runs helm, package journal
// keeps the events, and package informer provides the clusters; the interfaces
// that they implement are declared here.
//
// # Ordering
//
// A session has several sources: helm's output, transitions of the release,
// snapshots of its objects, and its own end. They put events into the session's
// inbox, which keeps the order of arrival. One goroutine takes them out, numbers
// them 1, 2, 3 without gaps, stores them in the journal, and only then shows
// them to readers. So an event that a reader has seen is stored, and every reader
// sees the same events in the same order. STARTED is stored before a submit is
// answered; exactly one terminal event comes last. Heartbeats are not stored and
// have no number. Between sessions nothing is ordered.
//
// # Concurrency
//
// The methods of Operations and [Log] may be called concurrently. A [Cursor]
// belongs to one goroutine. A release has at most one running session.
// Observers (of a [Cluster], of sessions) are called under the caller's locks or
// from its goroutines and must not block. Nothing blocks while it holds a lock.
//
// Every append to the journal names the session's last entry. If that no longer
// fits, another process has taken the session over: the append fails with
// ErrFenced, and this process stops writing to the session.
//
// # Slow readers
//
// A reader is a cursor that knows the number of the last event it has seen. It
// takes the next chunk from a cache that all readers share, or from the journal.
// There is no queue per reader, so a slow reader holds up neither the writer nor
// other readers, and loses nothing. The cache is bounded in bytes
// (Setup.CacheBytes).
//
// The inbox is bounded in lines of output: helm's output is read more slowly
// while the journal is slow, and waits in the supervisor's spool. While many
// other events wait, snapshots of objects are left out; the next one that is
// stored has all their changes.
//
// # Shutdown
//
// Constructors start nothing. [Operations.Resume] takes up what an earlier
// process left; it is called once, before [Operations.Run]. Run blocks until its
// context ends. Then it accepts nothing new, waits up to Setup.Drain for running
// operations, and stops those that are left, or leaves them to their supervisors
// and the next process (Setup.LeaveOnStop). It returns when every other session
// has its terminal event, or when the journal refused it for ten seconds.
//
// # Who closes what
//
// The caller of NewOperations closes the journal, after Run has returned. The
// function that [Operations.Watch] returns ends the observed sessions of a
// cluster and waits for them; it is called before the cluster's watch ends. A
// session closes its [Process] when its end is stored. Logs and cursors hold
// nothing and are not closed.
package stream

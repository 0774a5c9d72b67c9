package stream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream/ownership"
)

const (
	// rowsPerEvent bounds the rows of one RESOURCE_STATUS. A larger snapshot is
	// split.
	rowsPerEvent = 200
	// recordPause is the first pause before reading a record is retried,
	// maxRecordPause the longest.
	recordPause    = time.Second
	maxRecordPause = 30 * time.Second
	// bytesPerList bounds each list in an event, as JSON, so that an event always
	// fits into an entry of the journal.
	bytesPerList = 128 << 10
)

// beginning returns the first items, as many as an event may hold and at least one.
func beginning[T any](items []T) []T {
	size := 0
	for i, item := range items {
		data, err := json.Marshal(item)
		if size += len(data) + 1; err == nil && size > bytesPerList && i > 0 {
			return items[:i]
		}
	}
	return items
}

// objectWatch turns the state of the objects of a session's revision into events.
type objectWatch struct {
	run     *run
	records Records
	cluster Objects
	wanted  chan int // the revision to follow; holds at most one, the newest

	viewer helmtrail.Viewer

	revision int // the one being followed; belongs to watch

	reading sync.WaitGroup // of the logs being read
	// reads ends when stopReading is called.
	reads    context.Context
	endReads context.CancelFunc

	mu     sync.Mutex
	record *decoder.Record
	rows   []health.Resource          // as they are now, masked; nil before they are known
	told   map[string]health.Resource // by key
	causes []health.Cause             // the summary's, as they were told
	stream streamState
	final  bool // the next snapshot is the last
	logs   map[health.LogSource]keptLog
	// secrets are those of the record. masked caches masked texts of the rows,
	// because the same texts occur again and again.
	secrets *mask.Secrets
	masked  map[string]string
	// standing holds what keeps the session's own revision from being ready.
	standing []health.Cause
	// alive holds the rows of the newest snapshot, each as it was before its object
	// was deleted.
	alive   []health.Resource
	verdict verdict
}

// streamState is the state of the stream compared with the rows.
type streamState string

const (
	// streamUnset means that the stream has no rows of the followed revision. The
	// next event replaces all rows.
	streamUnset streamState = "unset"
	// streamCurrent means that the stream has the rows.
	streamCurrent streamState = "current"
	// streamBehind means that changes were skipped while the journal was too slow.
	streamBehind streamState = "behind"
)

// verdict decides what happens to the standing causes when there are new ones.
type verdict string

const (
	// verdictOpen means that Helm is still running: the newest causes stand.
	verdictOpen verdict = "open"
	// verdictGivenUp means that Helm gave up and may delete the objects at once.
	// The causes of that moment stand, and only final ones are added. If none
	// were known, the next ones stand.
	verdictGivenUp verdict = "given-up"
	// verdictUndone means that Helm's own rollback is followed. Its objects are
	// unrelated to the failure.
	verdictUndone verdict = "undone"
)

func newObjectWatch(r *run) *objectWatch {
	w := &objectWatch{run: r, records: r.cluster, cluster: r.cluster, viewer: r.viewer(), wanted: make(chan int, 1), told: map[string]health.Resource{}, logs: map[health.LogSource]keptLog{}, stream: streamUnset, verdict: verdictOpen}
	w.reads, w.endReads = context.WithCancel(context.Background())
	return w
}

// follow requests the objects of another revision. It never blocks.
func (w *objectWatch) follow(revision int) {
	for {
		select {
		case w.wanted <- revision:
			return
		default:
		}
		select {
		case older := <-w.wanted:
			revision = max(revision, older)
		default:
		}
	}
}

// recall restores the state from an event that an earlier helmtrail stored.
func (w *objectWatch) recall(body *helmtrail.ResourceStatus) {
	if body.Full {
		clear(w.told)
	}
	for _, row := range body.Resources {
		w.told[row.Key()] = row
	}
	for _, key := range body.Removed {
		delete(w.told, key)
	}
	w.stream = streamCurrent
	w.standing, w.causes = body.Summary.Causes, body.Summary.Causes
}

// freeze keeps the present causes, because Helm gave up and may delete the
// objects at once. It never blocks for long.
func (w *objectWatch) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.verdict == verdictOpen {
		w.verdict = verdictGivenUp
	}
}

// begin resets the rows for a revision. It is called with the record of each
// followed revision.
func (w *objectWatch) begin(record *decoder.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ownership.RollsBack(w.run.request.Operation, ownership.TraceOfHeader(record.Version, &record.Header)):
		w.verdict = verdictUndone
	case w.record != nil: // another attempt
		w.standing, w.alive, w.verdict = nil, nil, verdictOpen
	}
	w.record, w.rows, w.stream = record, nil, streamUnset
	w.secrets, w.masked = w.run.secrets(record), map[string]string{}
}

// finalCauses returns the causes that kept the session's newest own revision from
// being ready, at the time when Helm gave up. Causes that only say that something
// is waiting are used if there are no others. It blocks until the logs being read
// have arrived, a few seconds at most.
func (w *objectWatch) finalCauses() []health.Cause {
	w.reading.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return beginning(w.withLogs(gaveUp(w.standing)))
}

// stand updates the standing causes from a snapshot. It is called under w.mu.
func (w *objectWatch) stand(rows []health.Resource) {
	causes := causesOf(rows)
	switch w.verdict {
	case verdictUndone:
	case verdictGivenUp:
		switch {
		case telling(causes) && telling(w.standing):
			w.standing = refined(w.standing, causes)
		case telling(causes):
			w.standing = causes
		case len(w.standing) == 0:
			w.standing = causesOf(slices.DeleteFunc(slices.Clone(rows), func(row health.Resource) bool {
				return !row.Exists() || row.Cause.Problem == health.ProblemDeleting // Helm's doing
			}))
		}
	default:
		w.standing = causesOf(w.beforeDeletion(rows))
	}
}

// beforeDeletion returns the rows with those of deleted objects, and of the objects
// that these own, as they were before, if they had a cause. Helm deletes objects
// once it gave up, and their watch may report that before the release's watch
// reports the new status. Each kind has a watch of its own, so an object may
// disappear before its owner does: its row stays as long as the owner is not ready
// and has no other object. It is called under w.mu.
func (w *objectWatch) beforeDeletion(rows []health.Resource) []health.Resource {
	if w.run.request.Operation == helmtrail.OperationUninstall {
		return rows // what is still being deleted is the cause
	}
	at, owns := make(map[string]int, len(rows)), map[string]bool{}
	for i, row := range rows {
		at[row.Key()] = i
		owns[row.Owner] = true
	}
	owners := make(map[string]string, len(w.alive))
	for _, before := range w.alive {
		owners[before.Key()] = before.Owner
	}
	deleted := func(row health.Resource) bool {
		return !row.Exists() || row.Cause.Problem == health.ProblemDeleting
	}
	var leaves func(owner string) bool // what it owned
	leaves = func(owner string) bool {
		if i, listed := at[owner]; listed {
			return deleted(rows[i]) || !rows[i].Current && !owns[owner]
		}
		return owner != "" && leaves(owners[owner])
	}
	kept := slices.Clone(rows)
	for _, before := range w.alive {
		if before.Cause.Rank >= health.RankWaiting {
			before.Cause = health.Cause{}
		}
		i, listed := at[before.Key()]
		switch {
		case listed && before.Cause.Reason != "" && deleted(rows[i]):
			kept[i] = before
		case !listed && leaves(before.Owner):
			kept = append(kept, before)
		}
	}
	w.alive = kept
	return kept
}

// watch follows the requested revisions, one at a time, until ctx ends.
func (w *objectWatch) watch(ctx context.Context) {
	record := w.next(ctx, 0)
	for record != nil {
		w.begin(record)
		followed, stop := context.WithCancel(ctx)
		var following sync.WaitGroup
		now := record
		following.Go(func() {
			if err := w.cluster.Follow(followed, now, w.viewer, w.tell); err != nil && followed.Err() == nil {
				w.run.log.Warn("cannot follow the release's objects", "error", err)
			}
		})
		record = w.next(ctx, w.revision)
		stop()
		following.Wait()
	}
}

// next blocks until a revision later than the given one is requested, and returns
// its record, or nil when ctx ends. If the record cannot be read it retries, with
// growing pauses, until another revision is requested.
func (w *objectWatch) next(ctx context.Context, after int) *decoder.Record {
	var again <-chan time.Time
	wanted, pause := 0, recordPause
	for {
		select {
		case revision := <-w.wanted:
			if revision <= max(after, wanted) {
				continue
			}
			wanted, pause = revision, recordPause
		case <-again:
		case <-w.run.inbox.relieved:
			w.catchUp()
			continue
		case <-ctx.Done():
			return nil
		}
		record, err := w.read(ctx, wanted)
		switch {
		case err == nil:
			w.revision = wanted
			return record
		case errors.Is(err, helmtrail.ErrNotFound):
			wanted, again = 0, nil // it may be requested again
		case ctx.Err() == nil:
			w.run.log.Warn("cannot read the revision's record", "revision", wanted, "error", err)
			again = time.After(pause)
			pause = min(2*pause, maxRecordPause)
		}
	}
}

func (w *objectWatch) read(ctx context.Context, revision int) (*decoder.Record, error) {
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	release := w.run.ref.Release
	return w.records.Record(reading, release.Namespace, release.Name, revision)
}

// last publishes and returns the final state, read from the API server, or nil if
// it cannot be read. It is called after watch has returned.
func (w *objectWatch) last(ctx context.Context) []health.Resource {
	select {
	case revision := <-w.wanted:
		// The release's watch lagged behind: the revision was requested after watch
		// had returned.
		if revision <= w.revision {
			break
		}
		if record, err := w.read(ctx, revision); err == nil {
			w.revision = revision
			w.begin(record)
		} else if !errors.Is(err, helmtrail.ErrNotFound) {
			w.run.log.Warn("cannot read the revision's record", "revision", revision, "error", err)
		}
	default:
	}
	w.mu.Lock()
	record := w.record
	w.mu.Unlock()
	if record == nil {
		return nil
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	// By now the record has the results of its hooks, unless it was deleted.
	release := w.run.ref.Release
	if ended, err := w.records.Record(reading, release.Namespace, release.Name, w.revision); err == nil {
		record = ended
	}
	rows, err := w.cluster.Snapshot(reading, record, w.viewer)
	if err != nil {
		w.run.log.Warn("cannot read the release's objects after the operation", "error", err)
		return nil
	}
	w.mu.Lock()
	w.final = true
	w.mu.Unlock()
	w.tell(rows)
	return rows
}

// tell updates and publishes the present rows.
func (w *objectWatch) tell(rows []health.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = w.mask(rows)
	w.publish()
}

// catchUp publishes the changes that were skipped while the journal was too slow.
// The objects may not change again by themselves.
func (w *objectWatch) catchUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rows != nil && w.stream != streamCurrent {
		w.publish()
	}
}

// publish puts the changed rows and causes into the stream. While the journal is
// too slow it skips them, so that the inbox does not grow without bound; a later
// call by catchUp publishes them. It is called under w.mu.
func (w *objectWatch) publish() {
	rows := w.rows
	summary := Summarize(rows)
	w.readLogs(summary.Causes)
	summary.Causes = beginning(w.withLogs(summary.Causes))
	w.stand(rows)
	full := w.stream == streamUnset
	if w.run.inbox.crowded() && !w.final {
		if !full {
			w.stream = streamBehind
		}
		return
	}
	w.stream = streamCurrent
	changed := []health.Resource{}
	keys := make(map[string]bool, len(rows))
	for _, row := range rows {
		key := row.Key()
		keys[key] = true
		if before, ok := w.told[key]; full || !ok || before != row {
			changed = append(changed, row)
		}
		w.told[key] = row
	}
	var removed []string
	for key := range w.told {
		if !keys[key] {
			delete(w.told, key)
			removed = append(removed, key)
		}
	}
	slices.Sort(removed)
	if full {
		removed = nil
	}
	sameCauses := slices.Equal(summary.Causes, w.causes)
	w.causes = summary.Causes
	if !full && len(changed) == 0 && len(removed) == 0 && sameCauses {
		return
	}
	for first := true; first || len(changed) > 0 || len(removed) > 0; first = false {
		part, keys := beginning(changed[:min(len(changed), rowsPerEvent)]), beginning(removed)
		changed, removed = changed[len(part):], removed[len(keys):]
		w.run.inbox.put(helmtrail.TypeResourceStatus, &helmtrail.ResourceStatus{Full: full && first, Resources: part, Removed: keys, Summary: summary})
	}
}

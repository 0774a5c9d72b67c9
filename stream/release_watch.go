package stream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// settleTime is how long the watch may take to deliver what the API server
// already had when helm ended.
const settleTime = 5 * time.Second

// releaseWatch turns the transitions of a session's release into events. It
// remembers the last state of every revision, so that nothing is reported twice.
type releaseWatch struct {
	run     *run
	records Records

	mu sync.Mutex
	// first is the newest revision before the first attempt, and start before the
	// last one; own are the revisions that the session made.
	first, start int
	begun        bool
	own          []int
	seen         map[string]*decoder.Revision // by the Secret's UID
	told         map[string]decoder.Status    // by the Secret's UID; "" after it was deleted
	changed      chan struct{}                // closed at the next change
	closed       bool
}

func newReleaseWatch(r *run) *releaseWatch {
	return &releaseWatch{run: r, records: r.cluster, seen: map[string]*decoder.Revision{}, told: map[string]decoder.Status{}, changed: make(chan struct{})}
}

// begin sets the newest revision before the first attempt, and before this one.
func (w *releaseWatch) begin(first, start int) {
	w.mu.Lock()
	w.first, w.start, w.begun = first, start, true
	for _, r := range slices.SortedFunc(maps.Values(w.seen), func(a, b *decoder.Revision) int { return a.Number - b.Number }) {
		w.claim(r)
	}
	w.mu.Unlock()
	if w.run.request.Operation == helmtrail.OperationUninstall && start > 0 {
		w.run.objects.follow(start)
	}
}

// recall restores the state from an event that an earlier helmtrail stored.
func (w *releaseWatch) recall(body *helmtrail.ReleaseStatus) {
	if body.Change == decoder.ChangeStatus {
		w.told[body.Secret.UID] = body.Status
		w.recallOwn(body)
	} else {
		w.told[body.Secret.UID] = ""
	}
}

// catchUp reports what happened to the release while no helmtrail was running.
func (w *releaseWatch) catchUp(ctx context.Context) {
	release := w.run.ref.Release
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	now, err := w.records.Read(reading, release.Namespace, release.Name)
	if err != nil {
		w.run.log.Warn("cannot find out what happened while helmtrail was not running", "error", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range now {
		if w.seen[r.Secret.UID] == nil && (r.Number > w.start || w.told[r.Secret.UID] != "") {
			w.tell(decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: r, Previous: w.told[r.Secret.UID], Late: true})
		}
	}
	if len(now) > 0 && now[len(now)-1].Number > w.start {
		w.run.objects.follow(now[len(now)-1].Number)
	}
}

// see handles a transition of the release while the session runs.
func (w *releaseWatch) see(t decoder.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.tell(t)
	}
}

// tell puts a transition into the stream unless it is there already.
func (w *releaseWatch) tell(t decoder.Transition) {
	rev := t.Revision
	uid := rev.Secret.UID
	status := rev.Status()
	if t.Change == decoder.ChangeStatus {
		w.seen[uid] = rev
		w.claim(rev)
	} else {
		status = ""
		delete(w.seen, uid)
	}
	close(w.changed)
	w.changed = make(chan struct{})
	if before, ok := w.told[uid]; ok && before == status {
		return
	}
	w.told[uid] = status

	body := &helmtrail.ReleaseStatus{
		Revision: rev.Number, Status: rev.Status(), PreviousStatus: t.Previous, Change: t.Change,
		Secret: rev.Secret, Late: t.Late,
	}
	if h := rev.Header; h != nil {
		body.Description, body.Chart, body.AppVersion, body.RollbackRevision = mask.Cut(w.run.mask(h.Description), maxDescription), chartName(h), h.AppVersion, h.RollbackRevision
	}
	w.run.inbox.put(helmtrail.TypeReleaseStatus, body)
	if t.Change != decoder.ChangeStatus || (w.begun && rev.Number <= w.start) {
		return
	}
	if w.undoing(status) {
		w.run.setPhase(helmtrail.PhaseRollingBack)
		w.run.objects.freeze()
	}
	if status == decoder.StatusFailed {
		w.run.objects.freeze() // helm may delete at once what did not become ready
	}
	w.run.objects.follow(rev.Number)
}

// undoing reports whether helm undoes what failed by itself: it rolls an upgrade
// back, and uninstalls a first install.
func (w *releaseWatch) undoing(status decoder.Status) bool {
	operation := w.run.request.Operation
	return (operation == helmtrail.OperationInstall || operation == helmtrail.OperationUpgrade) &&
		(status == decoder.StatusPendingRollback || status == decoder.StatusUninstalling)
}

func chartName(h *decoder.Header) string {
	if h.ChartVersion == "" {
		return h.Chart
	}
	return h.Chart + "-" + h.ChartVersion
}

// settle reads the release from the API server after helm has ended, gives the
// watch a moment to deliver the same, and reports what is still missing. Nothing
// is reported afterwards. known is false if the release could not be read.
func (w *releaseWatch) settle(ctx context.Context) (after []*decoder.Revision, known bool) {
	release := w.run.ref.Release
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	after, err := w.records.Read(reading, release.Namespace, release.Name)
	if err != nil {
		w.run.log.Warn("cannot read the release after the operation", "error", err)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.closed = true
		return nil, false
	}
	w.mu.Lock()
	if !w.begun { // Helm was not run: nothing is expected of the watch
		w.closed = true
		w.mu.Unlock()
		return after, true
	}
	w.mu.Unlock()
	limit := time.NewTimer(settleTime)
	defer limit.Stop()
	for waiting := true; waiting; {
		w.mu.Lock()
		behind, changed := w.behind(after), w.changed
		w.mu.Unlock()
		if !behind {
			break
		}
		select {
		case <-changed:
		case <-limit.C:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for i, r := range after {
		if seen := w.seen[r.Secret.UID]; seen != nil && seen.Secret.ResourceVersion == r.Secret.ResourceVersion {
			after[i] = seen // its record is decoded; Read decodes only the newest
		} else if r.Number > w.start || w.told[r.Secret.UID] != "" {
			w.tell(decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: r, Previous: w.told[r.Secret.UID], Late: true})
		}
	}
	return after, true
}

// behind reports whether the watch still has to deliver changes of the release.
func (w *releaseWatch) behind(after []*decoder.Revision) bool {
	live := make(map[string]bool, len(after))
	for _, r := range after {
		live[r.Secret.UID] = true
		if seen := w.seen[r.Secret.UID]; r.Number > w.start && (seen == nil || seen.Secret.ResourceVersion != r.Secret.ResourceVersion) {
			return true
		}
	}
	for uid := range w.seen {
		if !live[uid] {
			return true // its deletion is still to come
		}
	}
	return w.run.request.Operation == helmtrail.OperationUninstall && len(after) == 0 && w.start > 0 && !w.goneTold()
}

// goneTold reports whether a deletion was reported.
func (w *releaseWatch) goneTold() bool {
	for _, status := range w.told {
		if status == "" {
			return true
		}
	}
	return false
}

// toldAny reports whether any revision appeared or changed while the session
// ran.
func (w *releaseWatch) toldAny() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.told) > 0
}

// notes returns the notes of the revision that the session made. They are read
// from the record, since helm's output is not trusted for them.
func (w *releaseWatch) notes(ctx context.Context, o outcome) string {
	ours := o.ours()
	if ours == nil || o.kind() != helmtrail.TypeCompleted {
		return ""
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	release := w.run.ref.Release
	record, err := w.records.Record(reading, release.Namespace, release.Name, ours.Number)
	if err != nil {
		w.run.log.Warn("cannot read the release's notes", "error", err)
		return ""
	}
	return cutNotes(record.Notes)
}

const (
	// maxNotes bounds the notes in a terminal event, in bytes; the revision has
	// all of them.
	maxNotes = 64 << 10
	// maxDescription bounds a revision's description in an event, in bytes: helm
	// may list every failure in it.
	maxDescription = 8 << 10
)

// cutNotes shortens notes to the limit of a terminal event. In JSON one byte may
// take six.
func cutNotes(notes string) string {
	notes = mask.Cut(notes, maxNotes)
	if data, err := json.Marshal(notes); err == nil && len(data) > bytesPerList {
		return mask.Cut(notes, bytesPerList/6)
	}
	return notes
}

package stream

import (
	"slices"

	"github.com/helmtrail/helmtrail/decoder"
)

// made is where the release stood before helm was first run, nil if it was not,
// and the revisions that the session has made, lowest first.
func (w *releaseWatch) made() (start *int, revisions []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		first := w.first
		start = &first
	}
	return start, append([]int{}, w.own...)
}

// claim keeps a revision that the session has made. It is called under w.mu.
func (w *releaseWatch) claim(r *decoder.Revision) {
	if w.begun && r.Number > w.start && w.makes(r) {
		w.keepOwn(r.Number)
	}
}

func (w *releaseWatch) keepOwn(number int) {
	if at, known := slices.BinarySearch(w.own, number); !known {
		w.own = slices.Insert(w.own, at, number)
	}
}

// makes tells whether the session has made a revision above its start. As in an
// outcome, only the first that fits counts, and what helm does about a failure
// by itself. All that an observed session sees belongs to it.
func (w *releaseWatch) makes(r *decoder.Revision) bool {
	request := w.run.request
	if w.run.process == nil {
		return true
	}
	last := w.start
	if len(w.own) > 0 {
		last = max(last, w.own[len(w.own)-1])
	}
	first := last == w.start
	switch request.Operation {
	case OperationInstall, OperationUpgrade:
		if r.Session == w.run.ref.ID {
			return first
		}
		return !first && r.Number > last && request.Options.RollbackOnFailure && byRollback(r)
	case OperationRollback:
		return first && rolledBackTo(r, request.Revision)
	}
	return false
}

// byRollback tells whether a rollback has made a revision.
func byRollback(r *decoder.Revision) bool {
	return r.Status() == decoder.StatusPendingRollback || r.Header != nil && r.Header.RollbackTarget() != 0
}

// recallOwn is claim for what an earlier helmtrail has told, which is without
// labels: helm lets nobody else install or upgrade while it is pending.
func (w *releaseWatch) recallOwn(body *ReleaseStatus) {
	pending := map[Operation]decoder.Status{
		OperationInstall: decoder.StatusPendingInstall, OperationUpgrade: decoder.StatusPendingUpgrade, OperationRollback: decoder.StatusPendingRollback,
	}
	operation := w.run.request.Operation
	undone := operation == OperationUpgrade && body.Status == decoder.StatusPendingRollback && len(w.own) > 0
	if body.Status == pending[operation] || undone {
		w.keepOwn(body.Revision)
	}
}

package stream

import (
	"slices"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/ownership"
)

// made returns the release's newest revision before Helm was first run, nil if
// it was not run, and the revisions that the session made, lowest first.
func (w *releaseWatch) made() (start *int, revisions []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		first := w.first
		start = &first
	}
	return start, append([]int{}, w.own...)
}

// claimant describes the session to the rules of ownership.
func (r *run) claimant() ownership.Claimant {
	return ownership.Claimant{
		Session: r.ref.ID, Origin: r.origin, Operation: r.request.Operation,
		Target: r.request.Revision, Undoes: r.request.Options.RollbackOnFailure,
	}
}

// claim records a revision that the session made. It is called under w.mu.
func (w *releaseWatch) claim(r *decoder.Revision) {
	if w.begun && r.Number > w.start && w.run.claimant().Owns(ownership.TraceOf(r), w.start, w.own) {
		w.keepOwn(r.Number)
	}
}

func (w *releaseWatch) keepOwn(number int) {
	if at, known := slices.BinarySearch(w.own, number); !known {
		w.own = slices.Insert(w.own, at, number)
	}
}

// recallOwn is claim for an event that an earlier helmtrail stored. The event
// has no labels, but Helm lets nobody else install or upgrade a release that is
// pending, and each attempt begins with its pending status.
func (w *releaseWatch) recallOwn(body *helmtrail.ReleaseStatus) {
	c := w.run.claimant()
	t := ownership.TraceOfHeader(body.Revision, &decoder.Header{Status: body.Status, Description: body.Description, RollbackRevision: body.RollbackRevision})
	start := 0
	if body.Status == pendingStatus(c.Operation) {
		t.Session, start = c.Session, body.Revision-1
	}
	if c.Owns(t, start, w.own) {
		w.keepOwn(body.Revision)
	}
}

// pendingStatus is the status that an operation gives to the revision that it
// makes, "" if it makes none.
func pendingStatus(operation helmtrail.Operation) decoder.Status {
	switch operation {
	case helmtrail.OperationInstall:
		return decoder.StatusPendingInstall
	case helmtrail.OperationUpgrade:
		return decoder.StatusPendingUpgrade
	case helmtrail.OperationRollback:
		return decoder.StatusPendingRollback
	}
	return ""
}

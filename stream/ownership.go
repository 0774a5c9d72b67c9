package stream

import (
	"strings"

	"github.com/helmtrail/helmtrail/decoder"
)

// trace is what is known about how a revision came about.
type trace struct {
	number int
	// session is the value of the Secret's session label, "" for none.
	session string
	// byRollback means that a rollback made the revision; target is the revision
	// that it went back to, 0 if that is not known.
	byRollback bool
	target     int
	// failedWait means that the objects of a Helm 3 release did not become ready.
	// Its install and its rollback then leave the same description
	// (helm.sh/helm/v3/pkg/action/install.go and rollback.go).
	failedWait bool
}

// traceOf returns the trace of a revision. While the record is unread its
// label has to do.
func traceOf(r *decoder.Revision) trace {
	header := r.Header
	if header == nil {
		header = &decoder.Header{Status: r.LabelStatus}
	}
	t := traceOfHeader(r.Number, header)
	t.session = r.Session
	return t
}

func traceOfHeader(number int, h *decoder.Header) trace {
	t := trace{number: number, failedWait: h.Status == decoder.StatusFailed && strings.HasPrefix(h.Description, "Release \"")}
	t.target, t.byRollback = h.Rollback()
	return t
}

// claimant is a session as far as it decides which revisions belong to it.
type claimant struct {
	session   string
	origin    Origin
	operation Operation
	// target is the revision that a rollback goes back to.
	target int
	// undoes means that Helm rolls back by itself when the operation fails.
	undoes bool
}

// owns reports whether the session made a revision. start is the newest
// revision before Helm was run, and own are the revisions above it that are
// known to be the session's, lowest first.
//
// Helm copies labels to later revisions, and anybody may roll back to the same
// target, so of the revisions that fit only the first counts. The only other
// one that a session makes is Helm's own rollback of that first one.
func (c claimant) owns(t trace, start int, own []int) bool {
	last := start
	if len(own) > 0 {
		last = max(last, own[len(own)-1])
	}
	first := last == start
	switch {
	case c.origin == OriginOutside: // opened for what it sees
		return true
	case t.number <= start: // was there before
		return false
	case c.operation == OperationRollback: // cannot set labels
		return first && (t.byRollback && (t.target == 0 || t.target == c.target) || t.failedWait)
	case c.operation != OperationInstall && c.operation != OperationUpgrade: // makes none
		return false
	case t.session == c.session:
		return first
	}
	return c.undoes && !first && t.number > last && t.byRollback
}

// rollsBack reports whether a revision that appears while an operation runs is
// Helm's own rollback of what the operation did.
func rollsBack(operation Operation, t trace) bool {
	return (operation == OperationInstall || operation == OperationUpgrade) && t.byRollback
}

// MadeBy returns the session that made a revision, nil if it is not known.
// Sessions that were only observed are not considered. The header is the
// revision's own.
//
// The session label alone proves nothing, since Helm copies it to later
// revisions: the revision must have been made while the session ran. What a
// rollback made has no label of its own, so there the time decides alone.
func MadeBy(revision *decoder.Revision, header *decoder.Header, sessions []Session) *Session {
	made := header.LastDeployed
	if made.IsZero() {
		return nil
	}
	t := traceOfHeader(revision.Number, header)
	for i := range sessions {
		s := &sessions[i]
		switch {
		case s.Origin != OriginHelmtrail:
		case made.Before(s.StartedAt) || s.EndedAt != nil && made.After(*s.EndedAt):
		case revision.Session == s.ID || t.byRollback:
			return s
		}
	}
	return nil
}

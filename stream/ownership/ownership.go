// Package ownership decides which revisions belong to which session.
//
// It is pure. All code that needs a revision's owner uses it.
package ownership

import (
	"strings"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// Trace holds the known facts about a revision's origin.
type Trace struct {
	Number int
	// Session is the value of the Secret's session label, or "" if there is no
	// label.
	Session string
	// ByRollback means that a rollback created the revision. Target is the
	// revision that it went back to, or 0 if that is not known.
	ByRollback bool
	Target     int
	// FailedWait means that the objects of a Helm 3 release did not become
	// ready. In that case an install and a rollback leave the same description
	// (helm.sh/helm/v3/pkg/action/install.go and rollback.go).
	FailedWait bool
}

// TraceOf returns the trace of a revision. Until the record is read, it uses
// the status label instead.
func TraceOf(r *decoder.Revision) Trace {
	header := r.Header
	if header == nil {
		header = &decoder.Header{Status: r.LabelStatus}
	}
	t := TraceOfHeader(r.Number, header)
	t.Session = r.Session
	return t
}

// TraceOfHeader returns the trace derived from a header alone. It has no
// session.
func TraceOfHeader(number int, h *decoder.Header) Trace {
	t := Trace{Number: number, FailedWait: h.Status == decoder.StatusFailed && strings.HasPrefix(h.Description, "Release \"")}
	t.Target, t.ByRollback = h.Rollback()
	return t
}

// Claimant holds the properties of a session that decide which revisions belong
// to it.
type Claimant struct {
	Session   string
	Origin    helmtrail.Origin
	Operation helmtrail.Operation
	// Target is the revision that a rollback goes back to.
	Target int
	// Undoes means that Helm rolls back by itself when the operation fails.
	Undoes bool
}

// Owns reports whether the session created a revision. start is the newest
// revision before Helm was run. own holds the later revisions that are known to
// be the session's, lowest first.
//
// Helm copies labels to later revisions, and anybody may roll back to the same
// target, so only the first matching revision counts. The session creates only
// one other revision: Helm's own rollback of that first one.
func (c Claimant) Owns(t Trace, start int, own []int) bool {
	last := start
	if len(own) > 0 {
		last = max(last, own[len(own)-1])
	}
	first := last == start
	switch {
	case c.Origin == helmtrail.OriginOutside: // opened for what it sees
		return true
	case t.Number <= start: // was there before
		return false
	case c.Operation == helmtrail.OperationRollback: // cannot set labels
		return first && (t.ByRollback && (t.Target == 0 || t.Target == c.Target) || t.FailedWait)
	case c.Operation != helmtrail.OperationInstall && c.Operation != helmtrail.OperationUpgrade: // makes none
		return false
	case t.Session == c.Session:
		return first
	}
	return c.Undoes && !first && t.Number > last && t.ByRollback
}

// RollsBack reports whether a revision that appears while an operation runs is
// Helm's own rollback of that operation.
func RollsBack(operation helmtrail.Operation, t Trace) bool {
	return (operation == helmtrail.OperationInstall || operation == helmtrail.OperationUpgrade) && t.ByRollback
}

// MadeBy returns the session that created a revision, or nil if it is not
// known. Sessions that were only observed are not considered. The header must
// be the revision's own.
//
// The session label alone proves nothing, since Helm copies it to later
// revisions: the revision must have been created while the session ran. A
// revision created by a rollback has no label of its own, so only the time
// decides.
func MadeBy(revision *decoder.Revision, header *decoder.Header, sessions []helmtrail.Session) *helmtrail.Session {
	made := header.LastDeployed
	if made.IsZero() {
		return nil
	}
	t := TraceOfHeader(revision.Number, header)
	for i := range sessions {
		s := &sessions[i]
		switch {
		case s.Origin != helmtrail.OriginHelmtrail:
		case made.Before(s.StartedAt) || s.EndedAt != nil && made.After(*s.EndedAt):
		case revision.Session == s.ID || t.ByRollback:
			return s
		}
	}
	return nil
}

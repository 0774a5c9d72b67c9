package stream

import "github.com/helmtrail/helmtrail/decoder"

// MadeBy is the session of ours that made a revision, nil if none is known.
// Helm copies our label on to later revisions, so the revision must have been
// made while the session went on; what a rollback makes has no label of ours.
// The header is the revision's own.
func MadeBy(revision *decoder.Revision, header *decoder.Header, sessions []Session) *Session {
	made := header.LastDeployed
	if made.IsZero() {
		return nil
	}
	for i := range sessions {
		s := &sessions[i]
		if s.Origin != OriginHelmtrail || made.Before(s.StartedAt) || s.EndedAt != nil && made.After(*s.EndedAt) {
			continue
		}
		if revision.Session == s.ID || header.RollbackTarget() != 0 {
			return s
		}
	}
	return nil
}

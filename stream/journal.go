package stream

import "context"

// Position is the place of an entry in the journal; 0 is before the first.
type Position uint64

// Entry is some events of one session that were stored together.
type Entry struct {
	// Position only grows within a session.
	Position Position
	// Mark is the offset in helm's output, in bytes of its spool, up to which it is
	// in the log once these events are stored.
	Mark int64
	// Data is the events as JSON, one per line, at most MaxEntry bytes.
	Data []byte
}

// MaxEntry bounds an entry's data, in bytes; NATS refuses messages over 1 MiB
// by default.
const MaxEntry = 512 << 10

// SessionRef names a session of a release.
type SessionRef struct {
	Release ReleaseRef
	ID      string
}

// Journal stores the events of sessions. Package journal provides it.
// Its methods may be called concurrently.
type Journal interface {
	// Append stores an entry of the session, given the position of the
	// session's last entry (0 for the first), and returns the new entry's.
	// When it returns, the entry survives the end of the process. It fails
	// with ErrFenced when the session's last entry is another one.
	Append(ctx context.Context, session SessionRef, after Position, mark int64, data []byte) (Position, error)
	// Next returns the session's first entry after the position, or ErrNotFound.
	Next(ctx context.Context, session SessionRef, after Position) (Entry, error)
	// Last returns the session's last entry, or ErrNotFound.
	Last(ctx context.Context, session SessionRef) (Entry, error)
	// Sessions lists the ids of the release's sessions, in no order.
	Sessions(ctx context.Context, release ReleaseRef) ([]string, error)
}

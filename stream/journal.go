package stream

import "context"

// Position is where an entry stands in the journal; 0 is before the first.
type Position uint64

// Entry is what the journal keeps: some events of one session that were
// stored together.
type Entry struct {
	// Position is where the entry stands. Positions of one session only grow.
	Position Position
	// Mark is how far into helm's output the session had come, in bytes of its
	// spool, once these events were stored.
	Mark int64
	// Data holds the events as JSON, one to a line. At most MaxEntry bytes.
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

// Journal keeps the events of sessions for good. Package journal provides it.
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

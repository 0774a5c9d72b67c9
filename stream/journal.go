package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Journal stores the events of sessions. Package journal provides it.
// Its methods may be called concurrently.
type Journal interface {
	// Append stores an entry of the session, given the position of the
	// session's last entry (0 for the first), and returns the new entry's.
	// When it returns, the entry survives the end of the process. It fails
	// with ErrFenced when the session's last entry is another one.
	Append(ctx context.Context, session helmtrail.SessionRef, after backend.Position, mark int64, data []byte) (backend.Position, error)
	// Next returns the session's first entry after the position, or ErrNotFound.
	Next(ctx context.Context, session helmtrail.SessionRef, after backend.Position) (backend.Entry, error)
	// Last returns the session's last entry, or ErrNotFound.
	Last(ctx context.Context, session helmtrail.SessionRef) (backend.Entry, error)
	// Sessions lists the ids of the release's sessions, in no order.
	Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]string, error)
}

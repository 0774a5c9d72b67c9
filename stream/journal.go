package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Journal stores the events of sessions. Package journal implements it. Its
// methods are safe for concurrent use.
type Journal interface {
	// Append stores an entry after the position of the session's last entry (0 for
	// the first), and returns the position of the new entry. When it returns, the
	// entry survives the end of the process. It returns ErrFenced if after is not
	// the position of the session's last entry.
	Append(ctx context.Context, session helmtrail.SessionRef, after backend.Position, offset int64, data []byte) (backend.Position, error)
	// Next returns the session's first entry after the position. It returns
	// ErrNotFound if there is no such entry.
	Next(ctx context.Context, session helmtrail.SessionRef, after backend.Position) (backend.Entry, error)
	// Last returns the session's last entry. It returns ErrNotFound if there are
	// no entries.
	Last(ctx context.Context, session helmtrail.SessionRef) (backend.Entry, error)
	// Sessions returns the ids of the release's sessions in unspecified order.
	Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]string, error)
}

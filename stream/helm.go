package stream

import (
	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Helm runs helm's operations. Package helmcli provides it.
type Helm interface {
	// Version returns the version of the installed helm, "" if there is none.
	Version() string
	// Check returns an error if the request holds something that must not reach
	// helm, or that the installed helm cannot do.
	Check(request helmtrail.Request) error
	// Command returns the command line for people to see. It holds no secret.
	Command(session string, request helmtrail.Request) []string
	// Prepare creates the session's private folder, by which a later helmtrail
	// finds the session. It starts nothing.
	Prepare(session helmtrail.SessionRef, request helmtrail.Request) (backend.Process, error)
	// Rendered returns the masked output of a dry run, or ErrNotFound.
	Rendered(session string) (helmtrail.Rendering, error)
	// Left returns the processes of an earlier helmtrail that were not closed.
	Left() ([]backend.Process, error)
}

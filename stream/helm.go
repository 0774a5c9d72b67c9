package stream

import (
	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Helm runs helm's operations. Package helmcli implements it.
type Helm interface {
	// Version returns the version of the installed helm, or "" if helm is not
	// installed.
	Version() string
	// Check returns an error if the request contains something that must not reach
	// helm or that the installed helm does not support.
	Check(request helmtrail.Request) error
	// Command returns the command line for display. It contains no secrets.
	Command(session string, request helmtrail.Request) []string
	// Prepare creates the session's private folder, which lets a later helmtrail
	// process find the session. It starts nothing.
	Prepare(session helmtrail.SessionRef, request helmtrail.Request) (backend.Process, error)
	// Rendered returns the masked output of a dry run. It returns ErrNotFound if
	// there is no output.
	Rendered(session string) (helmtrail.Rendering, error)
	// Left returns the processes of an earlier helmtrail process that were not
	// closed.
	Left() ([]backend.Process, error)
}

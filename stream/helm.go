package stream

import (
	"context"
	"time"
)

// Helm runs helm's operations. Package helmcli provides it.
type Helm interface {
	// Version is the installed helm's, "" when there is none.
	Version() string
	// Check returns an *InvalidError when the request holds something that
	// must not reach helm, or that the installed helm cannot do.
	Check(request Request) error
	// Command is the command line for people to see; it holds no secret.
	Command(session string, request Request) []string
	// Prepare makes the session's private folder, by which a later helmtrail
	// finds the session again. Nothing runs yet.
	Prepare(session SessionRef, request Request) (Process, error)
	// Left returns the processes of an earlier helmtrail that were not closed.
	Left() ([]Process, error)
}

// Process is one helm under its supervisor. The supervisor does not depend on
// helmtrail: it keeps helm's output and end in the session's folder.
type Process interface {
	// Session names the session to which the process belongs.
	Session() SessionRef
	// Request is what was asked for, without values.
	Request() Request
	// Start forks helm. It fails when helm cannot be run.
	Start(ctx context.Context, launch Launch) error
	// Launched returns what Start was given but for the kubeconfig, and false
	// when it was never called.
	Launched() (Launch, bool)
	// Follow calls f with every line of helm's output that stands behind the
	// mark (0 for all of it), as it comes, and returns how helm ended. It
	// stops with f's error, or with ctx's.
	Follow(ctx context.Context, mark int64, f func(Line) error) (ProcessEnd, error)
	// Stop ends helm: SIGTERM, and after grace SIGKILL. It returns at once
	// and may be called again.
	Stop(grace time.Duration) error
	// Close removes the session's folder. The process must have ended.
	Close() error
}

// Launch is what a process needs to start beyond its request.
type Launch struct {
	// Kubeconfig is YAML. It is a secret.
	Kubeconfig []byte `json:"-"`
	// ChartCredentials is the data of the Secret that the request's chart
	// names, nil when it names none. It is a secret.
	ChartCredentials map[string][]byte `json:"-"`
	// StartRevision is the release's newest revision before helm runs, 0 for none.
	StartRevision int `json:"startRevision"`
}

// Line is one line of helm's output.
type Line struct {
	Time      time.Time
	Text      string
	Truncated bool
	// Mark is where the line ends in the spool.
	Mark int64
}

// ProcessEnd is how a process ended.
type ProcessEnd struct {
	// Exit is nil when helm never ran, or when nobody saw how it ended.
	Exit *Exit
	// TimedOut means that the deadline ended it.
	TimedOut bool
	// Stopped means that Stop ended it.
	Stopped bool
	// Problem says why helm could not be run, or that its end was not seen.
	Problem string
	// Message is helm's own error: what it printed behind "Error:".
	Message string
}

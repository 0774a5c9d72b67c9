package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
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
	// Rendered is what a dry run has rendered, masked, or ErrNotFound.
	Rendered(session string) (Rendering, error)
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
	// Start forks helm, and for a later attempt once more. It fails when helm
	// cannot be run.
	Start(ctx context.Context, launch Launch) error
	// Launched returns what Start was given but for the kubeconfig, and false
	// when it was never called.
	Launched() (Launch, bool)
	// Follow calls f with every line of helm's output that stands behind the
	// mark (0 for all of it), as it comes, and returns how helm ended. It
	// stops with f's error, or with ctx's.
	Follow(ctx context.Context, mark int64, f func(Line) error) (ProcessEnd, error)
	// Stop asks for helm's end: SIGTERM, and after the grace SIGKILL. It
	// returns at once. accepted is false when helm had ended before; whoever
	// asks first says why, a later call can only shorten the grace.
	Stop(cause StopCause, grace time.Duration) (accepted bool, err error)
	// Mask hides in a text what is known to be secret of the request and the
	// release, and what is by its looks.
	Mask(text string) string
	// KeepRendered keeps what helm has rendered, masked, for Helm's Rendered.
	// It tells whether there is something.
	KeepRendered() (bool, error)
	// Close removes the session's folder. The process must have ended.
	Close() error
}

// Rendering is what a dry run has made of a chart, its secrets masked.
type Rendering struct {
	Manifest string         `json:"manifest"`
	Hooks    []decoder.Hook `json:"hooks"`
	Notes    string         `json:"notes"`
}

// Launch is what a process needs to start beyond its request.
type Launch struct {
	// Kubeconfig is YAML. It is a secret.
	Kubeconfig []byte `json:"-"`
	// Deadline is how long helm may run.
	Deadline time.Duration `json:"deadline"`
	// ChartCredentials is the data of the Secret that the request's chart
	// names, nil when it names none. It is a secret.
	ChartCredentials map[string][]byte `json:"-"`
	// MaskKey makes the fingerprints of masked secrets. It is a secret.
	MaskKey []byte `json:"-"`
	// Known is what else may hold secrets of the release: its last record.
	Known []mask.Source `json:"-"`
	// StartRevision is the release's newest revision before helm runs, 0 for none.
	StartRevision int `json:"startRevision"`
	// FirstRevision is the StartRevision of the first attempt.
	FirstRevision int `json:"firstRevision"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
	// Replace lets an install take over a failed revision (helm install --replace).
	Replace bool `json:"replace,omitempty"`
}

// StopCause says why helm was ended before its time.
type StopCause string

const (
	// StopCanceled means that somebody cancelled the session.
	StopCanceled StopCause = "canceled"
	// StopInterrupted means that helmtrail or its supervisor was told to stop.
	StopInterrupted StopCause = "interrupted"
	// StopTimeout means that the deadline passed.
	StopTimeout StopCause = "timeout"
)

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
	// Stop says what was asked for before helm had ended; "" when nothing was.
	Stop StopCause
	// Problem says why helm could not be run, or that its end was not seen.
	Problem string
	// Message is helm's own error: what it printed behind "Error:".
	Message string
}

package backend

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// Process is one helm under its supervisor. The supervisor does not need
// helmtrail: it writes helm's output and exit into the session's folder.
type Process interface {
	// Session returns the session of the process.
	Session() helmtrail.SessionRef
	// Request returns the request, without values.
	Request() helmtrail.Request
	// Start runs helm. It may be called again for another attempt, after helm has
	// exited. It fails if helm cannot be run.
	Start(ctx context.Context, launch Launch) error
	// Launched returns the argument of the last Start, without its secrets. It
	// returns false if Start was never called.
	Launched() (Launch, bool)
	// Follow calls f with every line of helm's output after the given offset (0 for
	// all), as it arrives, and returns how helm ended. It stops with f's error, or
	// with ctx's.
	Follow(ctx context.Context, offset int64, f func(Line) error) (ProcessEnd, error)
	// Stop sends SIGTERM to helm, and SIGKILL after the grace. It returns at once.
	// accepted is false if helm has already exited. The first call sets the cause;
	// a later call can only shorten the grace.
	Stop(cause StopCause, grace time.Duration) (accepted bool, err error)
	// Mask masks the known secrets of the request and the release in a text,
	// and anything else that looks like a secret.
	Mask(text string) string
	// KeepRendered stores the masked output of a dry run for Helm's Rendered.
	// It reports whether there was any output.
	KeepRendered() (bool, error)
	// Close removes the session's folder. Helm must have exited.
	Close() error
}

// Launch holds the parameters that a process needs besides its request.
type Launch struct {
	// Kubeconfig is YAML. It is a secret.
	Kubeconfig []byte `json:"-"`
	// Deadline is how long helm may run.
	Deadline time.Duration `json:"deadline"`
	// ChartCredentials is the data of the Secret that the request's chart
	// names, or nil if it names no Secret. It is a secret.
	ChartCredentials map[string][]byte `json:"-"`
	// MaskKey is the key for the fingerprints of masked secrets. It is a
	// secret.
	MaskKey []byte `json:"-"`
	// Known holds other sources of the release's secrets: its last record.
	Known []mask.Source `json:"-"`
	// StartRevision is the release's newest revision before helm runs, or 0 if
	// there is no revision.
	StartRevision int `json:"startRevision"`
	// FirstRevision is the StartRevision of the first attempt.
	FirstRevision int `json:"firstRevision"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
	// Replace lets an install take over a failed revision (helm install --replace).
	Replace bool `json:"replace,omitempty"`
}

// StopCause says why helm was stopped early.
type StopCause string

const (
	// StopCanceled means that somebody canceled the session.
	StopCanceled StopCause = "canceled"
	// StopInterrupted means that helmtrail or its supervisor was asked to stop.
	StopInterrupted StopCause = "interrupted"
	// StopTimeout means that the deadline passed.
	StopTimeout StopCause = "timeout"
)

// Line is one line of helm's output.
type Line struct {
	Time      time.Time
	Text      string
	Truncated bool
	// Offset is the offset of the line's end in the spool.
	Offset int64
}

// ProcessEnd describes how a process ended.
type ProcessEnd struct {
	// Exit is nil if helm never ran or if its exit was not observed.
	Exit *helmtrail.Exit
	// Stop is the cause of a stop that was requested before helm exited; it is
	// "" if no stop was requested.
	Stop StopCause
	// Problem says why helm could not be run, or that its exit was not
	// observed.
	Problem string
	// Message is helm's own error: the text that it printed after "Error:".
	Message string
}

// DefaultGrace is how long Helm may take to stop before it is killed, unless
// Setup's Grace says otherwise.
const DefaultGrace = 10 * time.Second

package helmtrail

import (
	"errors"
	"fmt"

	"github.com/helmtrail/helmtrail/decoder"
)

var (
	// ErrNotFound is returned when the release, revision or session does not
	// exist.
	ErrNotFound = errors.New("not found")
	// ErrTooManyOperations is returned when the limit of running operations is
	// reached.
	ErrTooManyOperations = errors.New("too many operations are running")
	// ErrStopping is returned when helmtrail is shutting down and accepts no
	// new work.
	ErrStopping = errors.New("helmtrail is stopping")
	// ErrChanged is returned when the release has changed since the caller read
	// it.
	ErrChanged = errors.New("the release has changed in between")
	// ErrNotStuck is returned when there is nothing to recover.
	ErrNotStuck = errors.New("nothing is pending")
	// ErrEnded is returned when the session has already ended.
	ErrEnded = errors.New("the session has ended")
	// ErrFenced is returned when another process has written to the session.
	ErrFenced = errors.New("another process has taken over the session")
	// ErrErased is returned when retention has removed the data.
	ErrErased = errors.New("removed by retention")
	// ErrUploadsFull is returned when there is no room for another uploaded chart.
	ErrUploadsFull = errors.New("there is no room for more uploaded charts")
	// ErrAltered is returned when stored bytes have changed since they were
	// stored.
	ErrAltered = errors.New("the stored bytes have been altered")
)

// InProgressError reports that the release already has a running session.
type InProgressError struct {
	Release   ReleaseRef
	SessionID string
}

// Error returns a message that names the release and the session.
func (e *InProgressError) Error() string {
	return fmt.Sprintf("release %s/%s already has the running session %s", e.Release.Namespace, e.Release.Name, e.SessionID)
}

// QuotaKind names the quota that an operation would exceed.
type QuotaKind string

const (
	// QuotaServer bounds the operations of the whole server.
	QuotaServer QuotaKind = "server"
	// QuotaNamespace bounds the operations in one namespace of a cluster.
	QuotaNamespace QuotaKind = "namespace"
	// QuotaUser bounds the operations of one user of a cluster.
	QuotaUser QuotaKind = "user"
)

// QuotaError reports that a quota of running operations is used up. It wraps
// ErrTooManyOperations.
type QuotaError struct {
	Kind  QuotaKind
	Limit int
}

// Error returns a message that names the quota.
func (e *QuotaError) Error() string {
	switch e.Kind {
	case QuotaNamespace:
		return fmt.Sprintf("the quota of the namespace allows %d at once", e.Limit)
	case QuotaUser:
		return fmt.Sprintf("your quota allows %d at once", e.Limit)
	}
	return fmt.Sprintf("the quota of the server allows %d at once", e.Limit)
}

// Unwrap returns ErrTooManyOperations.
func (e *QuotaError) Unwrap() error { return ErrTooManyOperations }

// InvalidError reports that a field of a request has a value that is not
// allowed.
type InvalidError struct {
	// Field is the JSON path of the field.
	Field string
	// Message says what is allowed.
	Message string
	// Missing means that the value is well formed but names something that does
	// not exist.
	Missing bool
}

// Error returns a message that names the field and the rule.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Message }

// ErrNoHelm is returned when there is no helm to run.
var ErrNoHelm = errors.New("helm cannot be run")

// UnsupportedError reports that an option of a request is not supported, or not
// together with another option.
type UnsupportedError struct {
	// Option is the JSON name of the option.
	Option string
	// Other is the JSON name of the conflicting option, or "" if there is no
	// conflict.
	Other string
	// Reason says what does not support the option.
	Reason string
}

// Error returns a message that names the option, or both options, and the
// reason.
func (e *UnsupportedError) Error() string {
	if e.Other != "" {
		return "options " + e.Option + " and " + e.Other + ": " + e.Reason
	}
	return "option " + e.Option + ": " + e.Reason
}

// PendingError reports that somebody may be working on the release. Helm itself
// would not refuse a rollback or an uninstall then, but either could leave the
// release in an inconsistent state.
type PendingError struct {
	Release  ReleaseRef
	Revision int
	Status   decoder.Status
}

// Error returns a message that names the revision and the option that overrides
// the check.
func (e *PendingError) Error() string {
	return fmt.Sprintf("revision %d of %s/%s is %s, somebody may be working on it; overridePending goes ahead all the same",
		e.Revision, e.Release.Namespace, e.Release.Name, e.Status)
}

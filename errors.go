package helmtrail

import (
	"errors"
	"fmt"

	"github.com/helmtrail/helmtrail/decoder"
)

var (
	// ErrNotFound means that the release, revision or session does not exist.
	ErrNotFound = errors.New("not found")
	// ErrTooManyOperations means that as many operations run as are allowed.
	ErrTooManyOperations = errors.New("too many operations are running")
	// ErrStopping means that helmtrail is being stopped and accepts nothing new.
	ErrStopping = errors.New("helmtrail is stopping")
	// ErrChanged means that the release is not as the caller saw it.
	ErrChanged = errors.New("the release has changed in between")
	// ErrNotStuck means that there is nothing to recover.
	ErrNotStuck = errors.New("nothing is pending")
	// ErrEnded means that the session has ended already.
	ErrEnded = errors.New("the session has ended")
	// ErrFenced means that another process has written to the session.
	ErrFenced = errors.New("another process has taken over the session")
	// ErrErased means that retention removed it.
	ErrErased = errors.New("removed by retention")
	// ErrAltered means that stored bytes are not those that were stored.
	ErrAltered = errors.New("the stored bytes have been altered")
)

// InProgressError means that a session of the release is running already.
type InProgressError struct {
	Release   ReleaseRef
	SessionID string
}

// Error names the release and the session.
func (e *InProgressError) Error() string {
	return fmt.Sprintf("release %s/%s already has the running session %s", e.Release.Namespace, e.Release.Name, e.SessionID)
}

// InvalidError means that a field of a request has a value that is not allowed.
type InvalidError struct {
	// Field is the JSON name of the field, with its path.
	Field string
	// Message says what is allowed.
	Message string
	// Missing means that the value is well formed, but that what it names is
	// not there.
	Missing bool
}

// Error names the field and the rule.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Message }

// ErrNoHelm means that there is no helm to run.
var ErrNoHelm = errors.New("helm cannot be run")

// UnsupportedError means that an option of a request cannot be had, or not
// together with another one.
type UnsupportedError struct {
	// Option is the JSON name of the option.
	Option string
	// Other is the JSON name of the option that it does not go with, "" if
	// that is not why.
	Other string
	// Reason says what lacks it.
	Reason string
}

// Error names the option, or both, and the reason.
func (e *UnsupportedError) Error() string {
	if e.Other != "" {
		return "options " + e.Option + " and " + e.Other + ": " + e.Reason
	}
	return "option " + e.Option + ": " + e.Reason
}

// PendingError means that somebody may be working on the release, so that a
// rollback or an uninstall, which helm itself would not refuse, could leave it
// in disorder.
type PendingError struct {
	Release  ReleaseRef
	Revision int
	Status   decoder.Status
}

// Error names the revision and the way past it.
func (e *PendingError) Error() string {
	return fmt.Sprintf("revision %d of %s/%s is %s, somebody may be working on it; overridePending goes ahead all the same",
		e.Revision, e.Release.Namespace, e.Release.Name, e.Status)
}

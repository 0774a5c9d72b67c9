package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
)

// Error is an error as a client sees it.
type Error struct {
	Status  int
	Code    Code
	Message string
	// Details is encoded as JSON; it is omitted if nil.
	Details any
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// These errors need no details.
var (
	ErrNoRoute = NotFound("There is nothing at this address.")
	ErrMethod  = &Error{
		Status: http.StatusMethodNotAllowed, Code: CodeMethodNotAllowed, Message: "Method not allowed.",
	}
	ErrInternal = &Error{Status: http.StatusInternalServerError, Code: CodeInternal, Message: "Something went wrong on the server; its log says what."}

	ErrBodyCut     = BadRequest("The body was cut off.")
	errNotReviewed = &Error{
		Status: http.StatusServiceUnavailable, Code: CodeUnreachable,
		Message: "The cluster could not check your identity and permissions; the server's log says why.",
	}
	errBusy = &Error{
		Status: http.StatusServiceUnavailable, Code: CodeBusy,
		Message: "The server is busy with other large releases. Try again in a few seconds.",
	}
	errDiskFull = Unavailable("The server cannot write to its disk; its log and /readyz say why.")
)

// BadRequest returns a 400 that is about the whole request.
func BadRequest(message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeBadRequest, Message: message}
}

// fieldDetails names the field that an error is about.
type fieldDetails struct {
	Field string `json:"field"`
}

// BadField returns a 400 for a field or parameter whose value is not allowed.
// The message must not hold the value.
func BadField(field, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeBadRequest, Message: message, Details: fieldDetails{field}}
}

func unknownFieldError(field string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: CodeUnknownField,
		Message: fmt.Sprintf("There is no field %q.", field), Details: fieldDetails{field},
	}
}

// UnknownParameter returns the 400 for a parameter of the query that the route does
// not have.
func UnknownParameter(name string, allowed []string) *Error {
	message := fmt.Sprintf("There is no parameter %q.", name)
	if len(allowed) > 0 {
		message += " There are " + strings.Join(allowed, ", ") + "."
	}
	return &Error{Status: http.StatusBadRequest, Code: CodeUnknownField, Message: message, Details: fieldDetails{name}}
}

// Forbidden returns a 403.
func Forbidden(message string) *Error {
	return &Error{Status: http.StatusForbidden, Code: CodeForbidden, Message: message}
}

// NotFound returns a 404.
func NotFound(message string) *Error {
	return &Error{Status: http.StatusNotFound, Code: CodeNotFound, Message: message}
}

// NoRelease returns the 404 for a release that does not exist.
func NoRelease(ref helmtrail.ReleaseRef) *Error {
	return NotFound("There is no release " + ref.Name + " in namespace " + ref.Namespace + ".")
}

// TooLarge returns a 413.
func TooLarge(message string) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: CodeTooLarge, Message: message}
}

// Unreadable returns a 422 for something that exists but cannot be shown.
func Unreadable(message string) *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: CodeUnreadable, Message: message}
}

// Unavailable returns a 503.
func Unavailable(message string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Message: message}
}

// Unreachable returns the 503 for a cluster that does not answer.
func Unreachable(message string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: CodeUnreachable, Message: message}
}

// Denied returns the 403 that names a missing right.
func Denied(e *helmtrail.ForbiddenError) *Error { return DeniedField(e, "", e.Error()) }

// DeniedField returns the 403 that names the missing right without which a
// field is not accepted.
func DeniedField(e *helmtrail.ForbiddenError, field, message string) *Error {
	return &Error{
		Status: http.StatusForbidden, Code: CodeForbidden, Message: message,
		Details: struct {
			User      string `json:"user"`
			Verb      string `json:"verb"`
			Resource  string `json:"resource"`
			Group     string `json:"group,omitempty"`
			Namespace string `json:"namespace,omitempty"`
			Field     string `json:"field,omitempty"`
		}{e.User, e.Right.Verb, e.Right.Resource, e.Right.Group, e.Right.Namespace, field},
	}
}

// sentinels maps errors of other packages that have no further data.
var sentinels = []struct {
	err    error
	status int
	code   Code
}{
	{helmtrail.ErrNotFound, http.StatusNotFound, CodeNotFound},
	{helmtrail.ErrUnauthenticated, http.StatusUnauthorized, CodeUnauthenticated},
	{helmtrail.ErrTooManyTokens, http.StatusTooManyRequests, CodeTooManyRequests},
	{helmtrail.ErrTooManyOperations, http.StatusTooManyRequests, CodeTooManyOperations},
	{helmtrail.ErrNoHelm, http.StatusServiceUnavailable, CodeUnavailable},
	{helmtrail.ErrNoChart, http.StatusServiceUnavailable, CodeUnavailable},
	{helmtrail.ErrUploadsFull, http.StatusServiceUnavailable, CodeUnavailable},
	{helmtrail.ErrChanged, http.StatusConflict, CodeChanged},
	{helmtrail.ErrNotStuck, http.StatusConflict, CodeNotStuck},
	{helmtrail.ErrEnded, http.StatusConflict, CodeEnded},
	{helmtrail.ErrStopping, http.StatusServiceUnavailable, CodeUnavailable},
}

// FromError returns the error that a client sees. It returns false for an
// unexpected error, whose text must stay in the server's log.
func FromError(err error) (*Error, bool) {
	if known, ok := errors.AsType[*Error](err); ok {
		return known, true
	}
	if invalid, ok := errors.AsType[*helmtrail.InvalidError](err); ok {
		return BadField(invalid.Field, invalid.Error()), true
	}
	if lacking, ok := errors.AsType[*helmtrail.UnsupportedError](err); ok {
		return &Error{
			Status: http.StatusBadRequest, Code: CodeUnsupported,
			Message: lacking.Error(), Details: fieldDetails{lacking.Option},
		}, true
	}
	if busy, ok := errors.AsType[*helmtrail.InProgressError](err); ok {
		return &Error{
			Status: http.StatusConflict, Code: CodeInProgress,
			Message: fmt.Sprintf("Another operation on release %s is running.", busy.Release.Name),
			Details: struct {
				SessionID string `json:"sessionId"`
			}{busy.SessionID},
		}, true
	}
	if denied, ok := errors.AsType[*helmtrail.ForbiddenError](err); ok {
		return Denied(denied), true
	}
	if errors.Is(err, budget.ErrBusy) {
		return errBusy, true
	}
	if errors.Is(err, helmtrail.ErrNotReviewed) {
		return errNotReviewed, false
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, full) {
			return errDiskFull, false
		}
	}
	if pending, ok := errors.AsType[*helmtrail.PendingError](err); ok {
		return &Error{
			Status: http.StatusConflict, Code: CodePending, Message: pending.Error(),
			Details: struct {
				Revision int            `json:"revision"`
				Status   decoder.Status `json:"status"`
			}{pending.Revision, pending.Status},
		}, true
	}
	if full, ok := errors.AsType[*helmtrail.QuotaError](err); ok {
		return &Error{
			Status: http.StatusTooManyRequests, Code: CodeTooManyOperations,
			Message: "Too many operations are running: " + full.Error() + ".",
			Details: struct {
				Quota helmtrail.QuotaKind `json:"quota"`
				Limit int                 `json:"limit"`
			}{full.Kind, full.Limit},
		}, true
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return &Error{Status: s.status, Code: s.code, Message: err.Error()}, true
		}
	}
	return ErrInternal, false
}

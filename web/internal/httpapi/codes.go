package httpapi

// Code names the kind of an error, for programs. docs/api.md explains each.
type Code string

// The codes of all errors.
const (
	CodeBadRequest        Code = "bad_request"
	CodeUnknownField      Code = "unknown_field"
	CodeUnsupported       Code = "unsupported_option"
	CodeTokenExpires      Code = "token_expires"
	CodeUnauthenticated   Code = "unauthenticated"
	CodeForbidden         Code = "forbidden"
	CodeNotFound          Code = "not_found"
	CodeNoActiveSession   Code = "no_active_session"
	CodeMethodNotAllowed  Code = "method_not_allowed"
	CodeGone              Code = "gone"
	CodePending           Code = "pending"
	CodeChanged           Code = "changed"
	CodeNotStuck          Code = "not_stuck"
	CodeEnded             Code = "session_ended"
	CodeInProgress        Code = "operation_in_progress"
	CodeTooLarge          Code = "too_large"
	CodeUnreadable        Code = "unreadable"
	CodeTooManyRequests   Code = "too_many_requests"
	CodeTooManyOperations Code = "too_many_operations"
	CodeUnreachable       Code = "unreachable_cluster"
	CodeUnavailable       Code = "unavailable"
	CodeBusy              Code = "busy"
	CodeInternal          Code = "internal"
)

// Codes lists all codes. openapi.yaml, docs/api.md and the catalogues of the
// pages have the same ones.
var Codes = []Code{
	CodeBadRequest, CodeUnknownField, CodeUnsupported, CodeTokenExpires, CodeUnauthenticated, CodeForbidden,
	CodeNotFound, CodeNoActiveSession, CodeMethodNotAllowed, CodeGone, CodePending, CodeChanged, CodeNotStuck,
	CodeEnded, CodeInProgress, CodeTooLarge, CodeUnreadable, CodeTooManyRequests, CodeTooManyOperations,
	CodeUnreachable, CodeUnavailable, CodeBusy, CodeInternal,
}

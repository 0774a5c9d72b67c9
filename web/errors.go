package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// The codes of errors, for programs. docs/api.md explains them.
const (
	codeBadRequest        = "bad_request"
	codeUnknownField      = "unknown_field"
	codeUnsupported       = "unsupported_option"
	codeTokenExpires      = "token_expires"
	codeUnauthenticated   = "unauthenticated"
	codeForbidden         = "forbidden"
	codeNotFound          = "not_found"
	codeNoActiveSession   = "no_active_session"
	codeMethodNotAllowed  = "method_not_allowed"
	codeGone              = "gone"
	codePending           = "pending"
	codeChanged           = "changed"
	codeNotStuck          = "not_stuck"
	codeEnded             = "session_ended"
	codeInProgress        = "operation_in_progress"
	codeTooLarge          = "too_large"
	codeUnreadable        = "unreadable"
	codeTooManyRequests   = "too_many_requests"
	codeTooManyOperations = "too_many_operations"
	codeUnreachable       = "unreachable_cluster"
	codeUnavailable       = "unavailable"
	codeInternal          = "internal"
)

// apiError is an error as a client sees it.
type apiError struct {
	status  int
	code    string
	message string
	details any
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

var (
	errNoRoute         = &apiError{status: http.StatusNotFound, code: codeNotFound, message: "There is nothing at this address."}
	errMethod          = &apiError{status: http.StatusMethodNotAllowed, code: codeMethodNotAllowed, message: "The address does not take this method."}
	errNoActiveSession = &apiError{
		status: http.StatusNotFound, code: codeNoActiveSession,
		message: "No active session found. The operation may have completed.",
	}
	notReviewed = &apiError{
		status: http.StatusServiceUnavailable, code: codeUnreachable,
		message: "The cluster could not be asked who you are and what you may do; the server's log says why.",
	}
	notKept = &apiError{
		status: http.StatusServiceUnavailable, code: codeUnavailable,
		message: "What happens cannot be kept, since the server's disk takes nothing; its log and /readyz say why.",
	}
	internalError = &apiError{status: http.StatusInternalServerError, code: codeInternal, message: "Something went wrong on the server; its log says what."}
)

// fieldDetails names the field that an error is about.
type fieldDetails struct {
	Field string `json:"field"`
}

// badRequest says that a field's value is not allowed. The message must not
// hold the value.
func badRequest(field, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: codeBadRequest, message: message, details: fieldDetails{field}}
}

// sentinels maps the errors of other packages that carry nothing but a kind.
var sentinels = []struct {
	err    error
	status int
	code   string
}{
	{stream.ErrNotFound, http.StatusNotFound, codeNotFound},
	{stream.ErrUnauthenticated, http.StatusUnauthorized, codeUnauthenticated},
	{stream.ErrTooManyTokens, http.StatusTooManyRequests, codeTooManyRequests},
	{stream.ErrTooManyOperations, http.StatusTooManyRequests, codeTooManyOperations},
	{stream.ErrNoHelm, http.StatusServiceUnavailable, codeUnavailable},
	{stream.ErrNoChart, http.StatusServiceUnavailable, codeUnavailable},
	{stream.ErrChanged, http.StatusConflict, codeChanged},
	{stream.ErrNotStuck, http.StatusConflict, codeNotStuck},
	{stream.ErrEnded, http.StatusConflict, codeEnded},
	{stream.ErrStopping, http.StatusServiceUnavailable, codeUnavailable},
}

// toAPI maps any error to what a client sees; false for one that nobody
// expected, whose text stays on the server.
func toAPI(err error) (*apiError, bool) {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known, true
	}
	if invalid, ok := errors.AsType[*stream.InvalidError](err); ok {
		return badRequest(invalid.Field, invalid.Error()), true
	}
	if lacking, ok := errors.AsType[*stream.UnsupportedError](err); ok {
		return &apiError{
			status: http.StatusBadRequest, code: codeUnsupported,
			message: lacking.Error(), details: fieldDetails{lacking.Option},
		}, true
	}
	if busy, ok := errors.AsType[*stream.InProgressError](err); ok {
		return &apiError{
			status: http.StatusConflict, code: codeInProgress,
			message: fmt.Sprintf("Another operation on release %s is running.", busy.Release.Name),
			details: struct {
				SessionID string `json:"sessionId"`
			}{busy.SessionID},
		}, true
	}
	if denied, ok := errors.AsType[*stream.ForbiddenError](err); ok {
		return forbidden(denied), true
	}
	if errors.Is(err, stream.ErrNotReviewed) {
		return notReviewed, false
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, full) {
			return notKept, false
		}
	}
	if pending, ok := errors.AsType[*stream.PendingError](err); ok {
		return &apiError{
			status: http.StatusConflict, code: codePending, message: pending.Error(),
			details: struct {
				Revision int            `json:"revision"`
				Status   decoder.Status `json:"status"`
			}{pending.Revision, pending.Status},
		}, true
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return &apiError{status: s.status, code: s.code, message: err.Error()}, true
		}
	}
	return internalError, false
}

// answer makes a handler Gin's, and writes the response for its error.
func (s *Server) answer(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := h(c)
		if err == nil {
			return
		}
		known, expected := toAPI(err)
		if !expected {
			if errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil {
				return // The client is gone; nobody reads an answer.
			}
			s.logger.Error("request failed", "method", c.Request.Method, "route", c.FullPath(), "error", err)
		}
		writeError(c, known)
	}
}

func writeError(c *gin.Context, e *apiError) {
	if e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "5")
	}
	if isConsole(c.Request) {
		writeConsoleError(c, e.status, e.message)
		return
	}
	writeJSON(c, e.status, struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	}{e.code, e.message, e.details})
}

// writeJSON writes v, which must be one of this package's own types, so that
// it can always be encoded.
func writeJSON(c *gin.Context, status int, v any) {
	body := encodeJSON(v)
	h := c.Writer.Header()
	read := status == http.StatusOK && c.Request.Method == http.MethodGet
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
		if read {
			h.Set("Cache-Control", "no-cache")
		}
	}
	if read && unchanged(c, body) {
		return
	}
	c.Data(status, "application/json", body)
}

// encodeJSON encodes one of this package's own types.
func encodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}

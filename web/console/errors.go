package console

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// statusError is an error with its status in the contract.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// errNotFound is Helm's error for a release that does not exist.
var errNotFound = &statusError{http.StatusNotFound, "release: not found"}

// fieldNames replaces helmtrail's names of a request's fields by the contract's.
var fieldNames = strings.NewReplacer(
	"chart.ref", "chart_url", "chart.version", "chart_version", "chart.credentialsSecret", "basic_auth_secret_name", "revision:", "version:",
)

// failure returns the contract's answer to an error.
func (s *Server) failure(call *apiCall, err error) (status int, text string) {
	if own, ok := errors.AsType[*statusError](err); ok {
		return own.status, call.failed + ": " + own.text
	}
	known, expected := httpapi.FromError(err)
	if !expected {
		s.Logger.Error("request failed", "method", call.Request.Method, "route", call.FullPath(), "error", err)
	}
	if _, ok := errors.AsType[*helmtrail.InvalidError](err); ok {
		return call.status, call.failed + ": " + fieldNames.Replace(known.Message)
	}
	switch known.Status {
	case http.StatusForbidden:
		return known.Status, known.Message
	case http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return known.Status, call.failed + ": " + known.Message
	}
	return call.status, call.failed + ": " + known.Message
}

// IsRequest reports whether a request belongs to the contract.
func IsRequest(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, Path+"/") }

// WriteError answers with an error in the contract's form. A 401 has no body. Of
// a 403 the console only shows "message" (validate-status.ts in its frontend).
func WriteError(c *gin.Context, status int, text string) {
	body := struct {
		Error   string `json:"error"`
		Message string `json:"message,omitempty"`
	}{Error: text}
	switch status {
	case http.StatusUnauthorized:
		c.Status(status)
		c.Writer.WriteHeaderNow()
		return
	case http.StatusForbidden:
		body.Message = text
	case http.StatusTooManyRequests:
		c.Header("Retry-After", "5") // The console retries by itself.
	case http.StatusMethodNotAllowed:
		body.Error = "Unsupported method, supported methods are " + c.Writer.Header().Get("Allow")
	}
	httpapi.WriteJSON(c, status, body)
}

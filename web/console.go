package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// consolePath is where the contract of the OpenShift console begins, so that
// its pages and its command line work with helmtrail as they are.
// docs/console.md tells it row by row.
const consolePath = "/api/helm"

// consoleCookie is where `oc helm` has its token: in the cookie of the console's
// own login (pkg/client/helm.go of github.com/redhat-developer/oc-helm).
const consoleCookie = "openshift-session-token"

// consoleCall is one request in the console's contract.
type consoleCall struct {
	*gin.Context
	ctx     context.Context
	cluster *watched
	grant   *grant
	// failed begins the text of an error that comes from here on, and status
	// is what such an error is answered with unless it is one that the whole
	// contract knows.
	failed string
	status int
	// start is the newest revision before a rollback.
	start int
}

func (s *Server) consoleRoutes() []route {
	console := func(method, path, failed string, handle func(*consoleCall) error) route {
		return route{method, consolePath + path, needNothing, s.console(failed, handle)}
	}
	return []route{
		console(http.MethodGet, "/releases", "Failed to list helm releases", s.consoleReleases),
		console(http.MethodGet, "/release", "Failed to find helm release", s.consoleRelease),
		console(http.MethodPost, "/release", "Failed to install helm chart", s.consoleInstall),
		console(http.MethodPut, "/release", "Failed to upgrade helm release", s.consoleUpgrade),
		console(http.MethodPatch, "/release", "Failed to rollback helm release", s.consoleRollback),
		console(http.MethodDelete, "/release", "Failed to uninstall helm release", s.consoleUninstall),
		console(http.MethodGet, "/release/history", "Failed to list helm release history", s.consoleHistory),
		console(http.MethodPost, "/release/async", "Failed to install helm chart", s.consoleInstallAsync),
		console(http.MethodPut, "/release/async", "Failed to upgrade helm release", s.consoleUpgradeAsync),
		console(http.MethodPatch, "/release/async", "Failed to rollback helm release", s.consoleRollbackAsync),
		console(http.MethodDelete, "/release/async", "Failed to uninstall helm release", s.consoleUninstallAsync),
		console(http.MethodGet, "/chart", "Failed to retrieve chart", s.consoleChart),
		console(http.MethodPost, "/template", "Failed to render manifests", s.consoleTemplate),
		console(http.MethodGet, "/charts/index.yaml", "Failed to get the charts", s.consoleIndex),
		console(http.MethodPost, "/verify", "Failed to verify the chart", s.consoleVerify),
	}
}

// console is a handler of the contract: it knows the caller before anything of
// the request is looked at, and answers errors in the contract's shape.
func (s *Server) console(failed string, handle func(*consoleCall) error) handler {
	return func(c *gin.Context) error {
		call := &consoleCall{Context: c, ctx: c.Request.Context(), failed: failed, status: http.StatusBadGateway}
		var err error
		if call.cluster, err = s.defaultCluster(); err == nil {
			err = s.consoleAdmit(call)
		}
		if err == nil {
			err = handle(call)
		}
		if err == nil || c.Request.Context().Err() != nil {
			return nil
		}
		status, text := s.consoleFailure(call, err)
		writeConsoleError(c, status, text)
		return nil
	}
}

// consoleFailure maps an error to what the contract answers.
func (s *Server) consoleFailure(call *consoleCall, err error) (status int, text string) {
	if own, ok := errors.AsType[*consoleError](err); ok {
		return own.status, call.failed + ": " + own.text
	}
	known, expected := toAPI(err)
	if !expected {
		s.logger.Error("request failed", "method", call.Request.Method, "route", call.FullPath(), "error", err)
	}
	if _, ok := errors.AsType[*stream.InvalidError](err); ok {
		return call.status, call.failed + ": " + consoleFields.Replace(known.message)
	}
	switch known.status {
	case http.StatusForbidden:
		return known.status, known.message
	case http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return known.status, call.failed + ": " + known.message
	}
	return call.status, call.failed + ": " + known.message
}

// consoleFields is what the contract calls the fields of a request.
var consoleFields = strings.NewReplacer(
	"chart.ref", "chart_url", "chart.version", "chart_version", "chart.credentialsSecret", "basic_auth_secret_name", "revision:", "version:",
)

// consoleAdmit finds out who the caller is. What they may do is asked for each
// namespace, which the body may name.
func (s *Server) consoleAdmit(call *consoleCall) error {
	if !s.signIn {
		return nil
	}
	g, err := s.identify(call.Context, call.cluster)
	if err != nil {
		return err
	}
	call.grant = g
	call.Set(grantKey, g)
	return nil
}

// may fails unless the caller has what an operation in the namespace needs, and
// the namespace is watched.
func (call *consoleCall) may(n need, namespace string) error {
	if err := call.grant.allows(call.ctx, n, namespace); err != nil {
		return err
	}
	return call.cluster.watches(namespace)
}

// consoleSees fails unless the caller may see the secrets of the namespace, "" for
// all, and its releases are known: an empty list would be a lie.
func (s *Server) consoleSees(call *consoleCall, ref stream.ReleaseRef) error {
	if err := s.consoleReveal(call, ref); err != nil {
		return err
	}
	if err := call.cluster.watches(ref.Namespace); err != nil {
		return err
	}
	return call.cluster.syncedIn(ref.Namespace)
}

// credentials are the caller's, helmtrail's own when nobody has to sign in.
func (call *consoleCall) credentials() stream.Credentials {
	if call.grant == nil {
		return stream.Credentials{}
	}
	return call.grant.credentials
}

// release names a release of the call's cluster.
func (call *consoleCall) release(namespace, name string) stream.ReleaseRef {
	return stream.ReleaseRef{Cluster: call.cluster.ID, Namespace: namespace, Name: name}
}

// consoleReveal fails unless the caller may see secrets of the namespace, ""
// for all: the contract's answers hold values as they are.
func (s *Server) consoleReveal(call *consoleCall, ref stream.ReleaseRef) error {
	refused := &apiError{status: http.StatusForbidden, code: codeForbidden, message: "You may not read the Secrets of namespace " + cmp.Or(ref.Namespace, "(all)") + "."}
	if s.options.MayReveal == nil {
		return refused
	}
	err := s.options.MayReveal(call.Request, ref)
	if _, denied := errors.AsType[*stream.ForbiddenError](err); err != nil && !denied && !errors.Is(err, stream.ErrUnauthenticated) {
		return errors.Join(refused, err)
	}
	return err
}

// consoleRevealing puts on record that the answer holds secrets, as long as the
// caller may see them: they may have waited for it.
func (s *Server) consoleRevealing(call *consoleCall, ref stream.ReleaseRef, revision int, what string) error {
	if err := s.consoleReveal(call, ref); err != nil {
		return err
	}
	err := s.reveal(call.Context, revisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Revision: revision}, what)
	if known, ok := errors.AsType[*apiError](err); ok {
		return &consoleError{known.status, known.message}
	}
	return err
}

// consoleError is an error with the status that the contract has for it.
type consoleError struct {
	status int
	text   string
}

func (e *consoleError) Error() string { return e.text }

// errConsoleNotFound is what Helm says of a release that does not exist.
var errConsoleNotFound = &consoleError{http.StatusNotFound, "release: not found"}

// isConsole tells whether a request is one of the contract's.
func isConsole(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, consolePath+"/") }

// writeConsoleError writes an error in the contract's shape: who is not signed
// in gets nothing to read, and of a 403 the console shows "message" only
// (validate-status.ts in its frontend).
func writeConsoleError(c *gin.Context, status int, text string) {
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
		c.Header("Retry-After", "5") // the console asks again by itself
	case http.StatusMethodNotAllowed:
		body.Error = "Unsupported method, supported methods are " + c.Writer.Header().Get("Allow")
	}
	writeJSON(c, status, body)
}

// decodeConsole reads a body as JSON whatever its Content-Type says: the
// console sends PATCH as a JSON patch that is none. Unknown fields are ignored.
func decodeConsole(c *gin.Context, into any) error {
	data, err := readBody(c)
	if err != nil {
		return err
	}
	if json.Unmarshal(data, into) != nil {
		return &apiError{status: http.StatusBadRequest, code: codeBadRequest, message: "The body is not the JSON object that is expected."}
	}
	return nil
}

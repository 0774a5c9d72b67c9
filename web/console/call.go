package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// apiCall is one request in the contract.
type apiCall struct {
	*gin.Context
	ctx     context.Context
	cluster Cluster
	caller  *authz.Caller
	// failed is the beginning of error texts from here on. status is the status
	// of these errors, unless the whole contract has another one for an error.
	failed string
	status int
	// start is the newest revision before a rollback.
	start int
}

// handler returns a handler of the contract. It identifies the caller before it reads
// anything else from the request, and answers errors in the contract's form.
func (s *Server) handler(failed string, handle func(*apiCall) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		call := &apiCall{Context: c, ctx: c.Request.Context(), failed: failed, status: http.StatusBadGateway}
		var err error
		if call.cluster, err = s.Cluster(); err == nil {
			// Permissions are checked later, for the namespace, which may be in
			// the body.
			if call.caller, err = s.Caller(c, call.cluster.ID); err == nil {
				authz.SetCaller(c, call.caller)
				err = handle(call)
			}
		}
		if err == nil || call.ctx.Err() != nil {
			return nil
		}
		status, text := s.failure(call, err)
		WriteError(c, status, text)
		return nil
	}
}

// release returns a release of the call's cluster by its names.
func (call *apiCall) release(namespace, name string) helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: call.cluster.ID, Namespace: namespace, Name: name}
}

// checkMay fails unless the caller has need in the namespace and the namespace is
// watched.
func (call *apiCall) checkMay(need authz.Need, namespace string) error {
	if err := call.caller.Allows(call.ctx, need, namespace); err != nil {
		return err
	}
	return call.cluster.CheckWatched(namespace)
}

// checkVisible fails unless the caller may see the secrets of the release, and
// the releases of its namespace are known, because an empty list would be wrong.
// Without a name it means all releases of the namespace.
func (s *Server) checkVisible(call *apiCall, ref helmtrail.ReleaseRef) error {
	if err := s.checkReveal(call, ref); err != nil {
		return err
	}
	if err := call.cluster.CheckWatched(ref.Namespace); err != nil {
		return err
	}
	return call.cluster.CheckSyncedIn(ref.Namespace)
}

// checkReveal fails unless the caller may see the secrets of the release: the
// contract's answers hold unmasked values. Without a name it means all releases
// of the namespace.
func (s *Server) checkReveal(call *apiCall, ref helmtrail.ReleaseRef) error {
	err := s.MayReveal(call.ctx, call.caller, ref)
	if err != nil && !authz.Refuses(err) && !authz.Undecided(err) {
		return errors.Join(httpapi.Forbidden("You don't have permission to read the Secrets of namespace "+cmp.Or(ref.Namespace, "(all)")+"."), err)
	}
	return err
}

// reveal records that the answer holds secrets. It checks the permission again,
// because the request may have waited.
func (s *Server) reveal(call *apiCall, ref helmtrail.ReleaseRef, revision int, what string) error {
	if err := s.checkReveal(call, ref); err != nil {
		return err
	}
	err := s.Secrets.Reveal(call.ctx, call.caller, audit.Reveal{Release: ref, Revision: revision, What: what})
	if known, ok := errors.AsType[*httpapi.Error](err); ok {
		return &statusError{known.Status, known.Message}
	}
	return err
}

// decodeBody decodes a body as JSON whatever its Content-Type says: the console
// sends PATCH with the type of a JSON patch, but another body. Unknown fields are
// ignored.
func decodeBody(c *gin.Context, into any) error {
	data, err := httpapi.ReadBody(c)
	if err != nil {
		return err
	}
	if json.Unmarshal(data, into) != nil {
		return httpapi.BadRequest("The body is not the expected JSON object.")
	}
	return nil
}

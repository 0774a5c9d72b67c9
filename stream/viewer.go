package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
)

// credentialsOf returns the credentials that the request's session uses. A
// known caller must supply credentials, because helmtrail's own may grant more.
// It returns ErrCredentialsGone if a restart lost them.
func credentialsOf(request helmtrail.Request) (helmtrail.Credentials, error) {
	if request.User.Name != "" && request.Credentials == (helmtrail.Credentials{}) {
		return helmtrail.Credentials{}, helmtrail.ErrCredentialsGone
	}
	return request.Credentials, nil
}

// inNamespace returns a viewer that may see only the objects of one namespace,
// and no logs.
func inNamespace(namespace string) helmtrail.Viewer {
	return func(_ context.Context, right helmtrail.Right) error {
		if right.Namespace == namespace && right.Resource != helmtrail.LogsResource {
			return nil
		}
		return &helmtrail.ForbiddenError{
			User: "a reader of this session", Right: right,
			Reason: "who started it is not known, so that it shows the release's own namespace alone, and no logs",
		}
	}
}

// viewer returns the viewer of the session's stored stream, which may see what
// the session's starter may see. It does not need the starter's token, so it
// gives the same answers after a later helmtrail process takes over the
// session. If callers sign in but the session's starter is unknown, it is
// limited to the release's namespace.
func (r *run) viewer() helmtrail.Viewer {
	user := r.request.User
	switch {
	case !r.ops.setup.SignIn:
		return nil
	case user.Name == "":
		return inNamespace(r.ref.Release.Namespace)
	}
	return func(ctx context.Context, right helmtrail.Right) error { return r.cluster.May(ctx, user, right) }
}

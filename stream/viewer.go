package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
)

// credentialsOf returns the credentials that the request's session uses. A
// known caller must have brought some: helmtrail's own may do more. It fails
// with ErrCredentialsGone when they were lost in a restart.
func credentialsOf(request helmtrail.Request) (helmtrail.Credentials, error) {
	if request.User.Name != "" && request.Credentials == (helmtrail.Credentials{}) {
		return helmtrail.Credentials{}, helmtrail.ErrCredentialsGone
	}
	return request.Credentials, nil
}

// inNamespace lets only the objects of one namespace be seen, and no logs.
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

// viewer decides what the session's stored stream may hold, which is what its
// starter may see. The starter's token is not needed for that, so it stays true
// when a later helmtrail has taken the session over. Where callers sign in but
// nobody is known to have started the session, it is the release's namespace.
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

package helmtrail

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
)

var (
	// ErrUnauthenticated means that a token is missing, wrong or expired.
	ErrUnauthenticated = errors.New("not signed in")
	// ErrTooManyTokens means that too many tokens were tried in a short time
	// that nobody knew.
	ErrTooManyTokens = errors.New("too many unknown tokens are being tried")
	// ErrNotReviewed means that the cluster has not answered who a caller is or
	// what they may do.
	ErrNotReviewed = errors.New("the cluster could not be asked who may do what")
	// ErrCredentialsGone means that the caller's credentials went with the
	// helmtrail that had accepted the request, since they are stored nowhere.
	ErrCredentialsGone = errors.New("the caller's credentials were lost when helmtrail was started again, and nobody else's are used")
)

// Credentials are those of a caller, with which everything is done that the
// caller asked for. The zero value stands for helmtrail's own. They are a
// secret: they are kept in memory alone, and print as nothing.
type Credentials struct {
	// Token is the bearer token for the cluster of the request.
	Token string
}

// String hides the token.
func (Credentials) String() string { return "(credentials)" }

// GoString hides the token.
func (Credentials) GoString() string { return "(credentials)" }

// LogValue hides the token.
func (Credentials) LogValue() slog.Value { return slog.StringValue("(credentials)") }

// MarshalJSON hides the token.
func (Credentials) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// User is who a caller is, as the cluster's API server has told it: what a
// review of rights needs to know. The zero value is nobody.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// UnmarshalJSON reads a name alone, too, which is what earlier versions kept of
// the starter of a session that may still be running.
func (u *User) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &u.Name) == nil {
		return nil
	}
	type fields User
	return json.Unmarshal(data, (*fields)(u))
}

// Viewer decides what of a cluster's objects may be seen. Nil lets everything
// be seen. It returns nil if what the right covers may be, a [*ForbiddenError]
// if not, and fails in another way when that could not be found out. It may
// block while the API server is asked, and may be called concurrently.
type Viewer func(ctx context.Context, right Right) error

// LogsResource is what a caller must be allowed to get to be shown what
// containers have written.
const LogsResource = "pods/log"

// Right is something that a caller may or may not do in a cluster, in the
// words of Kubernetes' RBAC.
type Right struct {
	Verb  string
	Group string
	// Resource may name a subresource behind a slash.
	Resource string
	// Namespace is "" for all namespaces, and for what has none.
	Namespace string
	// Path, if it is set, stands for an address of the server instead of a
	// resource.
	Path string
}

// String says the right as people do.
func (r Right) String() string {
	if r.Path != "" {
		return r.Verb + " " + r.Path
	}
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Namespace == "" {
		return text + " in all namespaces"
	}
	return text + " in namespace " + r.Namespace
}

// ForbiddenError means that a caller lacks a right.
type ForbiddenError struct {
	User  string
	Right Right
	// Reason is the API server's, often "".
	Reason string
}

// Error names the caller and the right.
func (e *ForbiddenError) Error() string {
	text := e.User + " may not " + e.Right.String()
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

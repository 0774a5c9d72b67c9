package helmtrail

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
)

var (
	// ErrUnauthenticated is returned when a token is missing, wrong or expired.
	ErrUnauthenticated = errors.New("not signed in")
	// ErrTooManyTokens is returned when too many unknown tokens were tried in a
	// short time.
	ErrTooManyTokens = errors.New("too many unknown tokens are being tried")
	// ErrNotReviewed is returned when the cluster did not answer who a caller
	// is or what they may do.
	ErrNotReviewed = errors.New("the cluster could not be asked who may do what")
	// ErrCredentialsGone is returned when the helmtrail process that accepted
	// the request has ended. The caller's credentials ended with it, since they
	// are stored nowhere.
	ErrCredentialsGone = errors.New("the caller's credentials were lost when helmtrail was started again, and nobody else's are used")
)

// Credentials are a caller's credentials. Everything the caller asks for is
// done with them. The zero value stands for helmtrail's own credentials. They
// are a secret: they are kept only in memory, and they are never printed.
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

// User is a caller's identity as reported by the cluster's API server. It holds
// what an access review needs. The zero value is nobody.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// UnmarshalJSON also reads a plain name. Earlier versions stored only the name
// of the user who started a session, and such a session may still be running.
func (u *User) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &u.Name) == nil {
		return nil
	}
	type fields User
	return json.Unmarshal(data, (*fields)(u))
}

// Viewer decides which of a cluster's objects may be seen. A nil Viewer allows
// everything. It returns nil if the caller has the right, a [*ForbiddenError]
// if not, and another error if that could not be determined. It may block while
// the API server answers, and may be called concurrently.
type Viewer func(ctx context.Context, right Right) error

// LogsResource is the resource that a caller must be allowed to get to see
// container logs.
const LogsResource = "pods/log"

// Right is a permission in a cluster, in the terms of Kubernetes RBAC.
type Right struct {
	Verb  string
	Group string
	// Resource may name a subresource after a slash.
	Resource string
	// Namespace is "" for all namespaces and for cluster-scoped resources.
	Namespace string
	// Path, if set, is a path on the server and replaces the resource.
	Path string
}

// String returns the right as readable text.
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

// ForbiddenError reports that a caller lacks a right.
type ForbiddenError struct {
	User  string
	Right Right
	// Reason is the API server's reason, often "".
	Reason string
}

// Error returns a message that names the caller and the right.
func (e *ForbiddenError) Error() string {
	text := e.User + " may not " + e.Right.String()
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

package authz

import (
	"context"

	"github.com/helmtrail/helmtrail"
)

// Access reports who the callers of one cluster are and what they may do
// there. Its methods may be called concurrently and may ask the API server.
type Access interface {
	// User returns whose credentials these are. It fails with
	// helmtrail.ErrUnauthenticated when they are nobody's, with
	// helmtrail.ErrTooManyTokens when they may not be tried now, and with
	// helmtrail.ErrNotReviewed when that could not be found out.
	User(ctx context.Context, credentials helmtrail.Credentials) (helmtrail.User, error)
	// Allowed returns nil if the caller has the right, *helmtrail.ForbiddenError
	// if not, and otherwise fails like User.
	Allowed(ctx context.Context, credentials helmtrail.Credentials, right helmtrail.Right) error
}

// Need is what a caller needs to use a route, when callers have to sign in.
type Need string

const (
	// Nothing lets everybody pass. The route must reveal nothing of a cluster.
	Nothing Need = "nothing"
	// KnownUser requires a user whom one of the clusters knows.
	KnownUser Need = "user"
	// Metrics requires the right that protects the metrics of Kubernetes' own
	// components.
	Metrics Need = "metrics"
	// Upload requires the right to add charts.
	Upload Need = "upload"
	// Get requires the right to see the releases of the route's namespace.
	Get Need = "get"
	// List requires the right to list the releases of the route's namespace.
	// Where the route has no namespace, the caller is shown the namespaces that
	// allow it, and there must be one.
	List Need = "list"
	// Trail is List for the past: it also counts namespaces whose releases are
	// all uninstalled.
	Trail Need = "trail"
	// Create requires the right without which helm itself would be refused, so
	// that helm is not run in vain.
	Create Need = "create"
	// Update requires the right that helm needs to change a record.
	Update Need = "update"
	// Delete requires the right that helm needs to delete a record.
	Delete Need = "delete"
)

// group is the API group of resources that exist for RBAC alone.
const group = "helmtrail.dev"

// rights returns the rights of which the caller needs one. Whoever may read
// the Secrets themselves may see what is in them.
func (n Need) rights(namespace string) []helmtrail.Right {
	onSecrets := func(verb string) helmtrail.Right {
		return helmtrail.Right{Verb: verb, Resource: "secrets", Namespace: namespace}
	}
	switch n {
	case Get, List:
		return []helmtrail.Right{{Verb: string(n), Group: group, Resource: "releases", Namespace: namespace}, onSecrets(string(n))}
	case Create, Update, Delete:
		return []helmtrail.Right{onSecrets(string(n))}
	case Upload:
		return []helmtrail.Right{{Verb: "create", Group: group, Resource: "charts", Namespace: namespace}}
	case Metrics:
		return []helmtrail.Right{{Verb: "get", Path: "/metrics"}}
	}
	return nil
}

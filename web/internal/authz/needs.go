package authz

import (
	"context"

	"github.com/helmtrail/helmtrail"
)

// Access reports who the callers of one cluster are and what they may do
// there. Its methods may be called concurrently and may ask the API server.
type Access interface {
	// User returns the user with these credentials. It fails with
	// helmtrail.ErrUnauthenticated if there is no such user, with
	// helmtrail.ErrTooManyTokens if too many tokens were tried, and with
	// helmtrail.ErrNotReviewed if the API server did not answer.
	User(ctx context.Context, credentials helmtrail.Credentials) (helmtrail.User, error)
	// Allowed returns nil if the caller has the permission,
	// *helmtrail.ForbiddenError if not, and otherwise fails like User.
	Allowed(ctx context.Context, credentials helmtrail.Credentials, right helmtrail.Right) error
}

// Need is the permission that a caller needs for a route, on a server with login.
type Need string

const (
	// Nothing allows everybody. The route must reveal nothing about a cluster.
	Nothing Need = "nothing"
	// KnownUser requires a user of one of the clusters.
	KnownUser Need = "user"
	// Metrics requires the permission that protects the metrics of Kubernetes' own
	// components.
	Metrics Need = "metrics"
	// Charts requires a user of the cluster in the query or, if the query names
	// neither cluster nor namespace, of one of the clusters.
	Charts Need = "charts"
	// Upload requires permission to add charts to the namespace in the query: to
	// upload one, or to have one fetched from a URL that is not on a configured
	// repository's server.
	Upload Need = "upload"
	// UseUploads requires permission to install or to add charts in a namespace. Its
	// uploaded charts are shown unmasked.
	UseUploads Need = "use uploads"
	// Get requires permission to see the releases of the route's namespace.
	Get Need = "get"
	// List requires permission to list the releases of the route's namespace. If the
	// route has no namespace, at least one namespace must allow it, and the response
	// is limited to those that do.
	List Need = "list"
	// Trail is List for the past. It includes namespaces whose releases are all
	// uninstalled.
	Trail Need = "trail"
	// Create requires the permission without which helm itself would fail, so that helm
	// is not run in vain.
	Create Need = "create"
	// Update requires the permission that helm needs to change a record.
	Update Need = "update"
	// Delete requires the permission that helm needs to delete a record.
	Delete Need = "delete"
)

// group is the API group of the resources that exist only for RBAC.
const group = "helmtrail.dev"

// rights returns the permissions of which the caller needs one. A caller who may
// read the Secrets themselves may also see their content.
func (n Need) rights(namespace string) []helmtrail.Right {
	onSecrets := func(verb string) helmtrail.Right {
		return helmtrail.Right{Verb: verb, Resource: "secrets", Namespace: namespace}
	}
	addCharts := helmtrail.Right{Verb: "create", Group: group, Resource: "charts", Namespace: namespace}
	switch n {
	case Get, List:
		return []helmtrail.Right{{Verb: string(n), Group: group, Resource: "releases", Namespace: namespace}, onSecrets(string(n))}
	case Create, Update, Delete:
		return []helmtrail.Right{onSecrets(string(n))}
	case Upload:
		return []helmtrail.Right{addCharts}
	case UseUploads:
		return []helmtrail.Right{addCharts, onSecrets("create"), onSecrets("update")}
	case Metrics:
		return []helmtrail.Right{{Verb: "get", Path: "/metrics"}}
	}
	return nil
}

package web

import (
	"context"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/history"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
)

// These are parts of a Cluster that the packages below use too.
type (
	// ClusterState is the state of a cluster's watch.
	ClusterState = clusters.State
	// Releases is the state of a cluster's releases according to its watch.
	Releases = clusters.Releases
	// Access reports who the callers of a cluster are and what they may do.
	Access = authz.Access
)

// Objects reads the objects of releases. Its methods ask the API server and may
// be called concurrently.
type Objects interface {
	// Record fetches one revision in full. It fails with helmtrail.ErrNotFound if
	// there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
	// Now returns the present rows of the record's objects, limited to what the
	// viewer may see. Calling it again soon makes no requests to the API server.
	Now(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error)
	// ContainerLog returns the last lines of a container's log, not masked, if
	// the viewer may read it.
	ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error)
}

// Cluster is one cluster to serve.
type Cluster struct {
	// ID is the first segment of the cluster's URLs.
	ID string
	// Server is the address of its API server.
	Server string
	// HelmVersion is the version of the helm binary.
	HelmVersion string
	// State returns the state of the watch. It must not block.
	State func() ClusterState
	// Namespaces are the watched namespaces; none means all.
	Namespaces []string
	// StateIn returns the state of the watch of one namespace; nil means State.
	StateIn func(namespace string) ClusterState
	// Releases is the state of the releases according to the watch.
	Releases Releases
	// Access checks what callers may do. If it is nil, everybody may do everything.
	Access Access
	// Objects reads the objects of releases.
	Objects Objects
	// Comparer compares releases with the live objects.
	Comparer history.Comparer
	// API reads what else the OpenShift console's contract needs. It is nil if
	// the contract is not served.
	API console.ClusterAPI
}

// served is a Cluster that is being served.
type served struct {
	*clusters.Cluster
	server, helmVersion string
	access              Access
	objects             Objects
	comparer            history.Comparer
	api                 console.ClusterAPI
}

func (s *Server) newServed(c Cluster) *served {
	return &served{
		Cluster: clusters.New(s.closing, clusters.Options{
			ID: c.ID, State: c.State, StateIn: c.StateIn, Namespaces: c.Namespaces, Releases: c.Releases,
			Observe: func(t decoder.Transition) { s.meter.seen(c.ID, t) },
		}),
		server: c.Server, helmVersion: c.HelmVersion, access: c.Access, objects: c.Objects, comparer: c.Comparer, api: c.API,
	}
}

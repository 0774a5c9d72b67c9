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

// What a Cluster is made of and the packages below use as well.
type (
	// ClusterState is how the watch of a cluster stands.
	ClusterState = clusters.State
	// Releases is what a cluster's watch knows.
	Releases = clusters.Releases
	// Access reports who the callers of a cluster are and what they may do.
	Access = authz.Access
)

// Objects reads the objects of releases. Its methods ask the API server and may
// be called concurrently.
type Objects interface {
	// Record fetches one revision in full. It fails with helmtrail.ErrNotFound
	// when there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
	// Now returns the rows of the record's objects as they are now, as far as the
	// viewer may see them. Asking again soon costs the API server nothing.
	Now(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error)
	// ContainerLog returns the end of what a container has written, not masked,
	// if the viewer may read it.
	ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error)
}

// Cluster is one cluster to serve.
type Cluster struct {
	// ID is the first segment of the cluster's URLs.
	ID string
	// Server is the address of its API server.
	Server string
	// HelmVersion is the version of the helm that operations run.
	HelmVersion string
	// State returns how the watch stands. It must not block.
	State func() ClusterState
	// Namespaces are those that are watched, none for all.
	Namespaces []string
	// StateIn returns how the watch of one namespace stands; nil means State.
	StateIn func(namespace string) ClusterState
	// Releases is what the watch knows.
	Releases Releases
	// Access says what callers may do; nil lets everybody do everything.
	Access Access
	// Objects reads the objects of releases.
	Objects Objects
	// Comparer compares releases with what is in the cluster.
	Comparer history.Comparer
	// API reads what else the OpenShift console's contract needs; nil when it
	// is not served.
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

package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// Cluster is what the engine needs of a cluster. Package informer implements it.
type Cluster interface {
	Transitions
	Records
	Objects
	Access
}

// Transitions reports what the watch of the cluster's releases sees.
type Transitions interface {
	// Observe calls f for every transition of the release, in order and one at a
	// time, until stop is called. Once stop has returned, f is not called again. f
	// must not block.
	Observe(namespace, name string, f func(decoder.Transition)) (stop func())
	// ObserveAll is Observe for every release of the cluster.
	ObserveAll(f func(decoder.Transition)) (stop func())
	// Newest returns the release's newest revision known to the watch, which may
	// lag behind, or nil if none is known. It does not block.
	Newest(namespace, name string) *decoder.Revision
}

// Records reads and changes release records.
type Records interface {
	// Read reads all revisions of the release from the API server, not from a
	// cache, lowest first. It fetches and decodes only the newest revision's
	// record. If the release does not exist, Read returns no revisions and no
	// error.
	Read(ctx context.Context, namespace, name string) ([]*decoder.Revision, error)
	// Record fetches and decodes one revision in full. It returns ErrNotFound if
	// the revision does not exist.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
	// MarkFailed writes the status failed and a note into the newest revision's
	// record, and returns that revision. It returns ErrChanged if the
	// resourceVersion of its Secret has changed.
	MarkFailed(ctx context.Context, mark helmtrail.Mark) (revision int, err error)
}

// Objects reads the objects of a release for a viewer.
type Objects interface {
	// Follow watches the objects named in a record's manifest and hooks. It calls
	// f with all rows once they are known, and again whenever rows have changed
	// and settled for a moment. The row of an object that the viewer may not see
	// reports only that. Follow blocks until ctx is done. It calls f from one
	// goroutine at a time and never after it has returned.
	Follow(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer, f func([]health.Resource)) error
	// Snapshot returns the current rows, read from the API server.
	Snapshot(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error)
	// ContainerLog returns the end of a container's log, at most a few lines more
	// than are shown. It returns *ForbiddenError if the viewer may not see the
	// log. The result is not masked.
	ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error)
}

// Access answers what a caller may do, and prepares what Helm needs to act as
// the caller.
type Access interface {
	// May returns nil if the user has the right, *ForbiddenError if the user does
	// not, and ErrNotReviewed if the API server did not respond.
	May(ctx context.Context, user helmtrail.User, right helmtrail.Right) error
	// SecretData reads the data of a Secret. The data is secret and must be passed
	// only to helm. SecretData returns ErrNotFound if the Secret does not exist.
	SecretData(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (map[string][]byte, error)
	// Kubeconfig returns a kubeconfig, as YAML, that connects to this cluster with
	// only these credentials. The kubeconfig is secret.
	Kubeconfig(ctx context.Context, credentials helmtrail.Credentials) ([]byte, error)
}

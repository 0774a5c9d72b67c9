package stream

import (
	"context"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// Cluster is what a session needs of its cluster. Package informer provides it.
type Cluster interface {
	// Observe calls f for every transition of the release, in order and one
	// at a time, until stop is called; after stop has returned f is not
	// called again. f must not block.
	Observe(namespace, name string, f func(decoder.Transition)) (stop func())
	// ObserveAll is Observe for every release of the cluster.
	ObserveAll(f func(decoder.Transition)) (stop func())
	// Newest returns the release's newest revision as far as the watch knows, which
	// may lag behind; nil if it knows none. It does not block.
	Newest(namespace, name string) *decoder.Revision
	// Read asks the API server, not a cache, for every revision of the
	// release, lowest first. Only the newest one's record is fetched and
	// decoded. A release that does not exist has no revisions and no error.
	Read(ctx context.Context, namespace, name string) ([]*decoder.Revision, error)
	// Record fetches and decodes one revision in full. It fails with
	// ErrNotFound if there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
	// Follow watches the objects that a record's manifest and hooks name and
	// calls f with all rows once they are known and then whenever they
	// changed and have settled for a moment. An object that the viewer may not
	// see has a row that says so and nothing else. It blocks until ctx ends; f is
	// called by one goroutine at a time and not after Follow has returned.
	Follow(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer, f func([]health.Resource)) error
	// Snapshot returns the rows as they are now, read from the API server.
	Snapshot(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error)
	// ContainerLog returns the end of what a container has written, at most
	// some lines more than are shown. It fails with *ForbiddenError when the
	// viewer may not see it. What it returns is not masked.
	ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error)
	// May returns nil if the user has the right, a *ForbiddenError if not, and
	// fails with ErrNotReviewed when the API server has not answered.
	May(ctx context.Context, user helmtrail.User, right helmtrail.Right) error
	// MarkFailed writes the status failed and a note into the newest
	// revision's record, and returns that revision. It fails with ErrChanged
	// when its Secret has another resourceVersion by then.
	MarkFailed(ctx context.Context, mark helmtrail.Mark) (revision int, err error)
	// SecretData reads the data of a Secret, which is a secret to be handed to
	// helm only. It fails with ErrNotFound if there is none.
	SecretData(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (map[string][]byte, error)
	// Kubeconfig returns a kubeconfig, as YAML, that reaches this cluster with
	// these credentials and no others. It is a secret.
	Kubeconfig(ctx context.Context, credentials helmtrail.Credentials) ([]byte, error)
}

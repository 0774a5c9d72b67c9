package web

import (
	"context"
	"encoding/json"
	"io"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail/stream"
)

// ClusterAPI is what the console's contract needs of a cluster's API server.
// Its methods may be called concurrently; those with credentials ask as the
// caller.
type ClusterAPI interface {
	// KubeVersion is the API server's version.
	KubeVersion(ctx context.Context) (string, error)
	// ReleaseSecret reads one of Helm's Secrets, as JSON and its labels. It
	// fails with stream.ErrNotFound when there is none.
	ReleaseSecret(ctx context.Context, credentials stream.Credentials, namespace, name string) (data json.RawMessage, labels map[string]string, err error)
	// SecretData reads the data of any Secret.
	SecretData(ctx context.Context, credentials stream.Credentials, namespace, name string) (map[string][]byte, error)
	// ChartRepositories returns the repositories that the cluster's own objects
	// name, for all namespaces and for one.
	ChartRepositories(ctx context.Context, credentials stream.Credentials, namespace string) ([]stream.ChartRepository, error)
}

// Archives is what the console's contract needs of charts. Its methods may be
// called concurrently. Access is what a server wants to see, nil for nothing.
type Archives interface {
	FetchChart(ctx context.Context, chart stream.Chart, access map[string][]byte) (archive []byte, err error)
	LoadChart(ctx context.Context, archive []byte) (*chart.Chart, error)
	UploadChart(ctx context.Context, archive io.Reader) (*stream.ChartItem, error)
	RenderChart(ctx context.Context, archive []byte, release stream.ReleaseRef, values []byte, kubeVersion string) ([]byte, error)
	RepositoryIndex(ctx context.Context, address string, access map[string][]byte) ([]byte, error)
	// Repositories are those that helmtrail was configured with.
	Repositories() []stream.ChartRepository
}

package console

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/internal/bounded"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
)

// Path is the prefix of the contract's paths.
const Path = "/api/helm"

// Cookie is the cookie of the console's own login, in which `oc helm` sends its token
// (pkg/client/helm.go of github.com/redhat-developer/oc-helm).
const Cookie = "openshift-session-token"

// ClusterAPI has the contract's requests to a cluster's API server. Its methods
// may be called concurrently. Those with credentials act as the caller.
type ClusterAPI interface {
	// KubeVersion returns the API server's version.
	KubeVersion(ctx context.Context) (string, error)
	// ReleaseSecret reads one of Helm's Secrets. It returns the Secret as JSON and its
	// labels. It fails with helmtrail.ErrNotFound if the Secret does not exist.
	ReleaseSecret(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (data json.RawMessage, labels map[string]string, err error)
	// SecretData reads the data of any Secret.
	SecretData(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (map[string][]byte, error)
	// ChartRepositories returns the repositories defined by the cluster's own
	// objects, for all namespaces and for one.
	ChartRepositories(ctx context.Context, credentials helmtrail.Credentials, namespace string) ([]helmtrail.ChartRepository, error)
}

// Records reads revisions from a cluster. Its methods may be called
// concurrently.
type Records interface {
	// Record fetches one revision in full from the API server. It fails with
	// helmtrail.ErrNotFound if there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
}

// Archives fetches, stores and renders charts. Its methods may be called
// concurrently. Access has the credentials for the chart's server; it may be nil.
type Archives interface {
	FetchChart(ctx context.Context, fetch helmtrail.ChartFetch) (archive []byte, err error)
	// FromElsewhere reports whether a chart is named by a URL that is not one of a
	// configured repository's server.
	FromElsewhere(chart helmtrail.Chart) bool
	LoadChart(ctx context.Context, archive []byte) (*chart.Chart, error)
	// UploadChart stores an archive, which can then be used in the scope.
	UploadChart(ctx context.Context, scope catalog.Scope, archive io.Reader) (*catalog.Item, error)
	RenderChart(ctx context.Context, archive []byte, release helmtrail.ReleaseRef, values []byte, kubeVersion string) ([]byte, error)
	// RepositoryIndex returns a repository's index, which may be cached.
	RepositoryIndex(ctx context.Context, address string, access map[string][]byte) (catalog.Index, error)
	// Repositories returns the configured repositories.
	Repositories() []helmtrail.ChartRepository
}

// Operations starts sessions and opens their logs.
type Operations interface {
	Start(ctx context.Context, request helmtrail.Request) (helmtrail.Session, error)
	Session(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Session, error)
	Cancel(ctx context.Context, release helmtrail.ReleaseRef, id string, force bool) error
	Open(ctx context.Context, release helmtrail.ReleaseRef, id string) (*stream.Log, error)
}

// Secrets restores masked values, and records which secrets are shown.
type Secrets interface {
	RestoreValues(ctx context.Context, caller *authz.Caller, release helmtrail.ReleaseRef, values []byte) ([]byte, error)
	Reveal(ctx context.Context, caller *authz.Caller, reveal audit.Reveal) error
}

// Cluster is a served cluster with what the contract reads from its API server.
type Cluster struct {
	*clusters.Cluster
	Records Records
	API     ClusterAPI
}

// Options configure a Server.
type Options struct {
	// Cluster returns the cluster of the contract, whose paths name none.
	Cluster func() (Cluster, error)
	// Caller identifies the caller of a request in that cluster.
	Caller     func(c *gin.Context, cluster string) (*authz.Caller, error)
	Operations Operations
	Secrets    Secrets
	// Archives is nil if the server offers no charts.
	Archives Archives
	// MayReveal returns nil if the caller may see the secrets of a release.
	// Without a name it means all releases of the namespace.
	MayReveal func(ctx context.Context, caller *authz.Caller, release helmtrail.ReleaseRef) error
	// Unbound removes the time limit of a response while it waits for helm. It
	// returns a function that sets the limit again.
	Unbound func(w http.ResponseWriter) (bound func())
	// Closing ends when the server is closed.
	Closing context.Context
	// Budget bounds the memory in which records are decoded.
	Budget *budget.Budget
	Logger *slog.Logger
}

// Server serves the contract. Its methods may be called concurrently.
type Server struct {
	Options
	// briefs holds encoded releases with limitInfo, by the state of their
	// Secrets. A state never changes, so entries do not expire.
	briefs   *bounded.Cache[json.RawMessage]
	versions *bounded.Cache[string] // of API servers
}

// New returns a Server.
func New(o Options) *Server {
	return &Server{
		Options:  o,
		briefs:   bounded.New(bounded.Options[json.RawMessage]{Limit: maxBriefs, Size: func(b json.RawMessage) int { return len(b) }}),
		versions: bounded.New(bounded.Options[string]{Limit: maxVersions, Life: versionLife}),
	}
}

// Route is a route of the contract. The handler checks the caller's permissions
// itself and answers errors in the contract's form.
type Route struct {
	Method, Path string
	Handle       func(c *gin.Context) error
}

// Routes returns the routes of the contract.
func (s *Server) Routes() []Route {
	route := func(method, path, failed string, handle func(*apiCall) error) Route {
		return Route{method, Path + path, s.handler(failed, handle)}
	}
	return []Route{
		route(http.MethodGet, "/releases", "Failed to list helm releases", s.listReleases),
		route(http.MethodGet, "/release", "Failed to find helm release", s.getRelease),
		route(http.MethodPost, "/release", "Failed to install helm chart", s.install),
		route(http.MethodPut, "/release", "Failed to upgrade helm release", s.upgrade),
		route(http.MethodPatch, "/release", "Failed to rollback helm release", s.rollback),
		route(http.MethodDelete, "/release", "Failed to uninstall helm release", s.uninstall),
		route(http.MethodGet, "/release/history", "Failed to list helm release history", s.getHistory),
		route(http.MethodPost, "/release/async", "Failed to install helm chart", s.installAsync),
		route(http.MethodPut, "/release/async", "Failed to upgrade helm release", s.upgradeAsync),
		route(http.MethodPatch, "/release/async", "Failed to rollback helm release", s.rollbackAsync),
		route(http.MethodDelete, "/release/async", "Failed to uninstall helm release", s.uninstallAsync),
		route(http.MethodGet, "/chart", "Failed to retrieve chart", s.getChart),
		route(http.MethodPost, "/template", "Failed to render manifests", s.postTemplate),
		route(http.MethodGet, "/charts/index.yaml", "Failed to get the charts", s.getIndex),
		route(http.MethodPost, "/verify", "Failed to verify the chart", s.postVerify),
	}
}

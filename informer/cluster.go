package informer

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/access"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// Cluster is one Kubernetes API that helmtrail watches. All methods may be
// called from any goroutine, before, during and after Run.
type Cluster struct {
	// ID fits into a URL segment and is unique among the clusters of one Open.
	ID string
	// Server is the API server's address without credentials.
	Server string

	*Watcher
	*access.Reviewer

	// Namespaces are those that are watched, none for all.
	Namespaces []string

	log        *slog.Logger
	describer  describer
	source     *source // nil when there is nothing to follow
	connection *connection
	secrets    corev1client.SecretsGetter
	metadata   metadata.Interface
	namespaces *namespaces
	records    *records
	reads      *budget.Line // of fetches for Record
	resources  *resources.Tracker
}

// newCluster returns a cluster whose clients share one HTTP client. Its
// connections can be replaced, and are closed by Close.
func newCluster(id string, config *rest.Config, proxyURL string, o Options) (*Cluster, error) {
	connection, err := newConnection(config, proxyURL)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		ID: id, Server: publicAddress(config.Host), Namespaces: o.Namespaces,
		log: o.Log.With("cluster", id), connection: connection, records: newRecords(recordsLimit), reads: budget.NewLine(readsAtOnce),
		describer: describer{key: o.MaskKey, cluster: id},
	}
	if err := c.makeClients(connection.current.Load().config, &http.Client{Transport: connection}); err != nil {
		return nil, fmt.Errorf("prepare clients: %w", err)
	}
	return c, nil
}

func (c *Cluster) makeClients(config *rest.Config, client *http.Client) error {
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	core, err := corev1client.NewForConfigAndClient(protobuf, client)
	if err != nil {
		return err
	}
	apps, err := appsv1client.NewForConfigAndClient(protobuf, client)
	if err != nil {
		return err
	}
	batch, err := batchv1client.NewForConfigAndClient(protobuf, client)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	dynamicClient, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	tokens, err := authenticationv1client.NewForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	rights, err := authorizationv1client.NewForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	c.secrets, c.metadata = core, metadataClient
	c.namespaces = newNamespaces(metadataClient, c.Namespaces)
	c.Reviewer = access.New(tokens, rights)
	c.Watcher = newWatcher(core, metadataClient, c.Namespaces, c.log)
	c.Watcher.describer = c.describer
	c.resources = resources.NewTracker(resources.Clients{
		Dynamic: dynamicClient, Metadata: metadataClient, Discovery: discoveryClient,
		Core: core, Apps: apps, Batch: batch,
	})
	return nil
}

// publicAddress returns the API server's address without credentials.
func publicAddress(host string) string {
	u, err := url.Parse(host)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

// Close closes the connections of a cluster. Run calls it; only a cluster that is
// never run has to be closed by its caller.
func (c *Cluster) Close() {
	c.resources.Close()
	c.connection.close()
}

// Run watches the cluster until ctx ends and then returns nil. It blocks. An
// unreachable API server is tried again with growing delays; Health says why. Run
// may be called once.
func (c *Cluster) Run(ctx context.Context) error {
	defer c.Close()
	var following sync.WaitGroup
	defer following.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	following.Go(func() { c.follow(ctx) })
	following.Go(func() {
		if err := c.namespaces.run(ctx); err != nil {
			c.log.Error("cannot tell namespaces of the same name apart", "error", err)
		}
	})
	return c.Watcher.Run(ctx)
}

// Follow implements the engine's Cluster. Readers of the same kinds in the same
// namespaces share one watch, which ends some time after the last of them.
func (c *Cluster) Follow(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer, f func([]health.Resource)) error {
	return c.resources.Follow(ctx, record, viewer, f)
}

// Snapshot implements the engine's Cluster.
func (c *Cluster) Snapshot(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error) {
	return c.resources.Snapshot(ctx, record, viewer)
}

// Now returns the rows of a record's objects that Follow would begin with, from
// the watches that it shares with Follow. They are at least as new as those of
// any earlier Snapshot.
func (c *Cluster) Now(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error) {
	return c.resources.Now(ctx, record, viewer)
}

// ContainerLog implements the engine's Cluster.
func (c *Cluster) ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error) {
	return c.resources.ContainerLog(ctx, source, viewer)
}

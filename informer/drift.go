package informer

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/drift"
	driftcheck "github.com/helmtrail/helmtrail/informer/drift"
)

// Drift compares a record's objects with the live ones, with the credentials of the
// query. It changes nothing in the cluster and blocks for a minute at most.
func (c *Cluster) Drift(ctx context.Context, query drift.Query) (*drift.Report, error) {
	comparer, done, err := c.comparer(query.Credentials)
	if err != nil {
		return nil, fmt.Errorf("compare release %s/%s: %w", query.Release.Namespace, query.Release.Name, err)
	}
	defer done()
	found, err := comparer.Drift(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("compare release %s/%s: %w", query.Release.Namespace, query.Release.Name, err)
	}
	return found, nil
}

// Validate reports what applying a rendered manifest would do. Like Drift it changes
// nothing and blocks for a minute at most.
func (c *Cluster) Validate(ctx context.Context, query drift.ValidationQuery) (*drift.Validation, error) {
	comparer, done, err := c.comparer(query.Credentials)
	if err != nil {
		return nil, fmt.Errorf("validate release %s/%s: %w", query.Release.Namespace, query.Release.Name, err)
	}
	defer done()
	found, err := comparer.Validate(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("validate release %s/%s: %w", query.Release.Namespace, query.Release.Name, err)
	}
	return found, nil
}

// comparer returns a Comparer with a caller's credentials, and a function that
// closes its connections.
func (c *Cluster) comparer(credentials helmtrail.Credentials) (*driftcheck.Comparer, func(), error) {
	config, client, done := c.configFor(credentials), &http.Client{Transport: c.connection}, func() {}
	if credentials == (helmtrail.Credentials{}) {
		config.Host = c.connection.base.String() // the connection replaces it by the current address
	} else {
		own, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, nil, fmt.Errorf("prepare connections: %w", err)
		}
		client, done = own, func() { utilnet.CloseIdleConnectionsFor(own.Transport) }
	}
	config.WarningHandlerWithContext = driftcheck.Warnings{}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare a client: %w", err)
	}
	names, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare a client: %w", err)
	}
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	raw, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare a client: %w", err)
	}
	get := func(ctx context.Context, path string) ([]byte, error) { return raw.Get().AbsPath(path).DoRaw(ctx) }
	return &driftcheck.Comparer{Dynamic: objects, Metadata: names, Find: c.resources.Find, EndOf: c.resources.EndOf, Get: get}, done, nil
}

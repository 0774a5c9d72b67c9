package informer

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// connection sends the requests of all clients of a cluster, so that the address
// and the credentials can be replaced under them.
type connection struct {
	// base is the address that the clients use.
	base    *url.URL
	current atomic.Pointer[endpoint]
}

// endpoint is one way to reach a cluster.
type endpoint struct {
	config   *rest.Config
	proxyURL string
	base     *url.URL
	sender   http.RoundTripper
	dialer   *connrotation.Dialer
}

func newEndpoint(config *rest.Config, proxyURL string) (*endpoint, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "helmtrail"
	// The API server's own fairness limits us better than a fixed rate would.
	config.QPS = -1
	e := &endpoint{config: config, proxyURL: proxyURL}
	var err error
	if e.base, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return nil, fmt.Errorf("prepare connections: %w", err)
	}
	e.dialer = connrotation.NewDialer((&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext)
	dialing := rest.CopyConfig(config)
	dialing.Dial = e.dialer.DialContext
	client, err := rest.HTTPClientFor(dialing)
	if err != nil {
		return nil, fmt.Errorf("prepare connections: %w", err)
	}
	if e.sender = client.Transport; e.sender == nil {
		e.sender = http.DefaultTransport
	}
	return e, nil
}

func newConnection(config *rest.Config, proxyURL string) (*connection, error) {
	e, err := newEndpoint(config, proxyURL)
	if err != nil {
		return nil, err
	}
	c := &connection{base: e.base}
	c.current.Store(e)
	return c, nil
}

// replace sends further requests to another endpoint. Open watches end, and are
// opened again.
func (c *connection) replace(e *endpoint) {
	old := c.current.Swap(e)
	old.dialer.CloseAll()
}

// close closes all connections.
func (c *connection) close() { c.current.Load().dialer.CloseAll() }

// RoundTrip implements [http.RoundTripper].
func (c *connection) RoundTrip(r *http.Request) (*http.Response, error) {
	e := c.current.Load()
	if *e.base == *c.base {
		return e.sender.RoundTrip(r)
	}
	address := *r.URL
	address.Scheme, address.Host = e.base.Scheme, e.base.Host
	address.Path = strings.TrimSuffix(e.base.Path, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(address.Path, c.base.Path), "/")
	address.RawPath = ""
	moved := r.Clone(r.Context())
	moved.URL, moved.Host = &address, ""
	return e.sender.RoundTrip(moved)
}

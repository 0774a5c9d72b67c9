package repository

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail/internal/bounded"
	"github.com/helmtrail/helmtrail/internal/slots"
)

const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 20 * time.Second
	// maxHeader bounds an answer's header, in bytes.
	maxHeader = 64 << 10
	// maxRedirects bounds the redirects of one request.
	maxRedirects = 5
	// slotsPerUser and slotsInAll bound the downloads at a time, of one user and of
	// all users.
	slotsPerUser = 4
	slotsInAll   = 64
)

// maxIndexes bounds the cached indexes, in bytes as their servers sent them.
const maxIndexes = 128 << 20

// Client fetches indexes and archives. Its methods may be called concurrently.
type Client struct {
	hosts   Hosts
	indexes *bounded.Cache[cachedIndex]
	calls   singleflight.Group // of indexes
	decode  sync.Mutex         // held while an index is decoded, which takes memory
	slots   *slots.Slots
}

// NewClient returns a Client for the allowed hosts.
func NewClient(hosts Hosts) *Client {
	size := func(i cachedIndex) int { return 1 + i.bytes }
	return &Client{
		hosts: hosts, slots: slots.New(slotsPerUser, slotsInAll),
		indexes: bounded.New(bounded.Options[cachedIndex]{Limit: maxIndexes, Size: size, Life: indexLife}),
	}
}

// Hosts returns the allowed hosts.
func (c *Client) Hosts() Hosts { return c.hosts }

// Take blocks until the user may fetch one more chart, and returns a function
// that must be called afterwards. Each user has a few slots, so that slow
// downloads of one user do not hold up the others.
func (c *Client) Take(ctx context.Context, user string) (release func(), err error) {
	return c.slots.Take(ctx, user)
}

// visit is the HTTP client for one download. The login is for one origin.
type visit struct {
	hosts  Hosts
	login  Login
	origin *url.URL
	// plain is for requests without a client certificate, known for the others.
	plain, known *http.Transport
	client       *http.Client
}

// visit prepares a download. The login is shown to the origin of a URL only. Close
// must be called.
func (c *Client) visit(login Login, origin *url.URL) *visit {
	v := &visit{hosts: c.hosts, login: login, origin: origin}
	v.plain = newTransport(&tls.Config{RootCAs: login.authorities})
	v.known = v.plain
	if login.certificate != nil {
		v.known = newTransport(&tls.Config{RootCAs: login.authorities, Certificates: []tls.Certificate{*login.certificate}})
	}
	v.client = &http.Client{Transport: v, CheckRedirect: checkRedirect}
	return v
}

func (v *visit) close() {
	v.plain.CloseIdleConnections()
	v.known.CloseIdleConnections()
}

// control is a net.Dialer's Control, and controlKey the context's key for the one
// of a request.
type (
	control    func(network, address string, c syscall.RawConn) error
	controlKey struct{}
)

func newTransport(config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true,
		// An archive is compressed already, and would be stored uncompressed.
		DisableCompression:  true,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: headerTimeout, MaxResponseHeaderBytes: maxHeader,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: dialTimeout, Control: onlyPublic}
			if chosen, ok := ctx.Value(controlKey{}).(control); ok {
				d.Control = chosen
			}
			return d.DialContext(ctx, network, address)
		},
	}
}

// checkRedirect removes the credentials from a request that follows a redirect to
// another origin. net/http keeps them for another port and for a subdomain.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	if strayed(r) {
		r.Header.Del("Authorization")
		r.Header.Del("Referer")
	}
	return nil
}

// strayed reports whether a request follows a redirect to another origin, even if
// a later one led back.
func strayed(r *http.Request) bool {
	for last := r; last.Response != nil && last.Response.Request != nil; last = last.Response.Request {
		if !sameOrigin(last.Response.Request.URL, last.URL) {
			return true
		}
	}
	return false
}

// RoundTrip checks a request, which may be a redirect, and sends it.
func (v *visit) RoundTrip(r *http.Request) (*http.Response, error) {
	refuse := func(err error) (*http.Response, error) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	allowed, err := v.hosts.permit(r.URL)
	if err != nil {
		return refuse(err)
	}
	lost := strayed(r)
	transport := v.plain
	if !lost && sameOrigin(r.URL, v.origin) {
		transport = v.known
	}
	proxy, err := transport.Proxy(r)
	if err != nil {
		return refuse(err)
	}
	encrypted := r.URL.Scheme == "https"
	secret := r.Header.Get("Authorization") != "" || transport != v.plain
	if secret && !encrypted && (!allowed.plain || proxy != nil) {
		return refuse(errPlain)
	}
	check := control(onlyPublic)
	switch {
	case secret && !encrypted:
		check = onlyLoopback
	case proxy != nil, allowed.inside:
		// The operator has chosen the proxy, or listed the host.
		check = nil
	}
	answer, err := transport.RoundTrip(r.WithContext(context.WithValue(r.Context(), controlKey{}, check)))
	if err == nil && lost {
		// The registry's client would send the login to the address in it.
		answer.Header.Del("Www-Authenticate")
	}
	return answer, err
}

// get opens a URL. The login is sent if the URL has its origin.
func (v *visit) get(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, refusal("it is not a URL")
	}
	if v.login.username != "" && sameOrigin(r.URL, v.origin) {
		r.SetBasicAuth(v.login.username, v.login.password)
	}
	answer, err := v.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, status(answer.StatusCode)
	}
	return answer.Body, nil
}

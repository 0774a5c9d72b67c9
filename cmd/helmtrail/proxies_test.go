package main

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// connectProxy is a proxy for a host name that only the proxy can resolve.
type connectProxy struct {
	url    string
	tunnel atomic.Int64 // the number of tunnels so far

	mu   sync.Mutex
	open map[net.Conn]bool
}

// cut closes all connections through the proxy.
func (p *connectProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close() // the tunnel's own goroutine may be closing it
	}
}

// hold registers a connection until the returned function is called.
func (p *connectProxy) hold(c net.Conn) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, c)
	}
}

// hiddenHost is the API server's name behind the proxy.
const hiddenHost = "api.cluster.invalid:6443"

func newConnectProxy(t *testing.T, target string) *connectProxy {
	t.Helper()
	p := &connectProxy{open: map[net.Conn]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != hiddenHost {
			http.Error(w, "this proxy knows one host", http.StatusForbidden)
			return
		}
		out, err := net.Dial("tcp", target)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer out.Close()
		defer p.hold(out)()
		in, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer in.Close()
		p.tunnel.Add(1)
		if _, err := io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(out, in) // either end may close
			_ = out.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(in, out)
		_ = in.(*net.TCPConn).CloseWrite()
		<-done
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// behindProxy returns a kubeconfig for an API server that can only be reached through a
// proxy. Its authority is in a file next to the kubeconfig.
func behindProxy(t *testing.T) (path string, proxy *connectProxy, edit func(func(*clientcmdapi.Cluster))) {
	t.Helper()
	config, cluster, _ := adminConfig(t)
	server, err := url.Parse(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	proxy = newConnectProxy(t, server.Host)
	if block, _ := pem.Decode(cluster.CertificateAuthorityData); block == nil {
		t.Fatal("the test cluster's authority is no certificate")
	}
	path = writeKubeconfig(t, config)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "authority.crt"), cluster.CertificateAuthorityData, 0o600); err != nil {
		t.Fatal(err)
	}
	cluster.CertificateAuthorityData, cluster.CertificateAuthority = nil, "authority.crt"
	cluster.Server, cluster.TLSServerName = "https://"+hiddenHost, server.Hostname()
	edit = func(change func(*clientcmdapi.Cluster)) {
		change(cluster)
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(*clientcmdapi.Cluster) {})
	return path, proxy, edit
}

// useToken replaces the credentials in a kubeconfig.
func useToken(t *testing.T, path, token string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = &clientcmdapi.AuthInfo{Token: token}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
}

func TestAProxyInTheKubeconfig(t *testing.T) {
	t.Parallel()
	path, proxy, edit := behindProxy(t)
	edit(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxy.url })
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: path})
	before := proxy.tunnel.Load()
	h.watchesAndInstalls(t)
	if after := proxy.tunnel.Load(); before == 0 || after == before {
		t.Errorf("there were %d tunnels before helm ran, and %d after it", before, after)
	}
}

// An authority that did not sign the API server's certificate is not trusted.
func TestACustomAuthority(t *testing.T) {
	t.Parallel()
	path, proxy, edit := behindProxy(t)
	authority := filepath.Join(filepath.Dir(path), "authority.crt")
	good, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := writeCertificate(t, t.TempDir(), 7)
	bad, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(authority, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	edit(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxy.url })
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: path, wait: "/healthz"})
	eventually(t, "the untrusted certificate is reported", func() bool { return strings.Contains(h.shown(t, h.cluster).Problem, "certificate") })
	if h.shown(t, h.cluster).Synced {
		t.Error("the API server was trusted nevertheless")
	}
	if err := os.WriteFile(authority, good, 0o600); err != nil {
		t.Fatal(err)
	}
	// The authority is used after the next start, or when the kubeconfig changes.
	edit(func(c *clientcmdapi.Cluster) { c.DisableCompression = true })
	h.waitReady(t)
	h.watchesAndInstalls(t)
}

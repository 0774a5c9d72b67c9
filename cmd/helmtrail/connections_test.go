package main

import (
	"context"
	"encoding/pem"
	"fmt"
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
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// administrator makes a ServiceAccount with all rights until the test ends, and
// returns a token of it.
func administrator(t *testing.T) string {
	t.Helper()
	namespace := clustertest.Namespace(t)
	_, token := account(t, namespace, "administrator")
	bindings := rbac(t).ClusterRoleBindings()
	_, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "administrator"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return token
}

// adminConfig is the test cluster's kubeconfig and what its context names.
func adminConfig(t *testing.T) (*clientcmdapi.Config, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		t.Fatal(err)
	}
	context := config.Contexts[config.CurrentContext]
	return config, config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]
}

func writeKubeconfig(t *testing.T, config *clientcmdapi.Config) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// watchesAndInstalls checks that a cluster's watch sees what helm does, and
// that an operation reaches it.
func (h *helmtrail) watchesAndInstalls(t *testing.T) {
	t.Helper()
	namespace := clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "seen", clustertest.Chart(t), "--namespace", namespace)
	eventually(t, "the watch sees a release", func() bool {
		_, answer := h.ask(t, http.MethodGet, h.releases(namespace), "")
		return strings.Contains(answer, `"seen"`)
	})
	session := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	if kind, last := end(t, h.events(t.Context(), t, session.Events, 1)); kind != stream.TypeCompleted {
		t.Errorf("the install ended %s: %s", kind, last.Message)
	}
}

// printCredential is the credential plugin of these tests: it prints the token
// in a file for a short time, and counts its calls in another.
func printCredential(tokenFile string) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		panic(err)
	}
	calls, err := os.OpenFile(tokenFile+".calls", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer calls.Close()
	fmt.Fprintln(calls, time.Now())
	fmt.Printf(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":%q,"expirationTimestamp":%q}}`,
		token, time.Now().Add(2*time.Second).UTC().Format(time.RFC3339))
}

func TestACredentialPluginIsAskedAgainWhenItsTokenExpires(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tokenFile := filepath.Join(t.TempDir(), "token")
	replace := func(token string) {
		if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls := func() int {
		data, err := os.ReadFile(tokenFile + ".calls")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "\n")
	}
	replace("nobody's")
	config, _, user := adminConfig(t)
	*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: self, Args: []string{credentialCommand, tokenFile},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: writeKubeconfig(t, config), wait: "/healthz"})
	eventually(t, "the token that is nobody's is told", func() bool { return h.shown(t, h.cluster).Problem != "" })
	replace(administrator(t))
	h.waitReady(t)
	before := calls()
	eventually(t, "its token has expired", func() bool {
		h.watchesAndInstalls(t)
		return calls() > before+1
	})
}

// In a Pod there is a service account and no kubeconfig.
func TestAPodsServiceAccount(t *testing.T) {
	_, cluster, _ := adminConfig(t)
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"token": []byte(administrator(t)), "ca.crt": cluster.CertificateAuthorityData, "namespace": []byte("default"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, err := url.Parse(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	h := serveMounted(t, `mount -t tmpfs tmpfs "$(readlink -f /var/run)"
mkdir -p /var/run/secrets/kubernetes.io
ln -s `+folder+` /var/run/secrets/kubernetes.io/serviceaccount`,
		[]string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(), "KUBECONFIG=", "HOME=" + t.TempDir()},
		[]string{
			"--listen", "127.0.0.1:0", "--data-dir", t.TempDir(),
			"--helm", clustertest.Binary(t, "helm4"), "--chart-dir", filepath.Dir(clustertest.Chart(t)),
		}, "")
	if h.cluster != "in-cluster" {
		t.Errorf("the cluster is %q", h.cluster)
	}
	h.watchesAndInstalls(t)
}

// connectProxy is a proxy that knows one host, which no name server does.
type connectProxy struct {
	url    string
	tunnel atomic.Int64 // how many there have been

	mu   sync.Mutex
	open map[net.Conn]bool
}

// cut breaks all connections through the proxy.
func (p *connectProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close() // the tunnel's own goroutine may be closing it
	}
}

// hold takes note of a connection until the returned function is called.
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

// hiddenHost is what the API server is called behind the proxy.
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

// behindProxy is a kubeconfig for an API server that is reached through a
// proxy alone, whose authority stands in a file beside the kubeconfig.
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

// useToken replaces the login in a kubeconfig.
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

func TestAProxyThatTheKubeconfigNames(t *testing.T) {
	path, proxy, edit := behindProxy(t)
	edit(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxy.url })
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: path})
	before := proxy.tunnel.Load()
	h.watchesAndInstalls(t)
	if after := proxy.tunnel.Load(); before == 0 || after == before {
		t.Errorf("there were %d tunnels before helm ran, and %d after it", before, after)
	}
}

func TestAProxyThatTheEnvironmentNames(t *testing.T) {
	path, proxy, _ := behindProxy(t)
	h := serveMounted(t, "", []string{"HTTPS_PROXY=" + proxy.url, "NO_PROXY="}, []string{
		"--kubeconfig", path, "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(),
		"--helm", clustertest.Binary(t, "helm4"), "--chart-dir", filepath.Dir(clustertest.Chart(t)),
	}, "")
	before := proxy.tunnel.Load()
	h.watchesAndInstalls(t)
	if after := proxy.tunnel.Load(); before == 0 || after == before {
		t.Errorf("there were %d tunnels before helm ran, and %d after it", before, after)
	}
}

// An authority that did not sign the API server's certificate is not trusted.
func TestAnAuthorityOfOnesOwn(t *testing.T) {
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
	eventually(t, "the strange certificate is told", func() bool { return strings.Contains(h.shown(t, h.cluster).Problem, "certificate") })
	if h.shown(t, h.cluster).Synced {
		t.Error("the API server was trusted all the same")
	}
	if err := os.WriteFile(authority, good, 0o600); err != nil {
		t.Fatal(err)
	}
	// The authority counts as of the next start, or when the kubeconfig changes.
	edit(func(c *clientcmdapi.Cluster) { c.DisableCompression = true })
	h.waitReady(t)
	h.watchesAndInstalls(t)
}

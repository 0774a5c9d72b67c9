package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// A Pod has a service account and no kubeconfig.
func TestAPodsServiceAccount(t *testing.T) {
	t.Parallel()
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

func TestAProxyInTheEnvironment(t *testing.T) {
	t.Parallel()
	path, proxy, _ := behindProxy(t)
	h := serveMounted(t, "", []string{"HTTPS_PROXY=" + proxy.url, "NO_PROXY="}, []string{
		"--log-format", "json", "--kubeconfig", path, "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(),
		"--helm", clustertest.Binary(t, "helm4"), "--chart-dir", filepath.Dir(clustertest.Chart(t)),
	}, "")
	before := proxy.tunnel.Load()
	h.watchesAndInstalls(t)
	if after := proxy.tunnel.Load(); before == 0 || after == before {
		t.Errorf("there were %d tunnels before helm ran, and %d after it", before, after)
	}
	// client-go's messages about broken watches have the format of all other lines.
	eventually(t, "client-go logs something", func() bool {
		proxy.cut()
		return strings.Contains(h.logs.String(), "reflector")
	})
	h.stop()
	for line := range strings.Lines(h.logs.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has the line %q", line)
		}
	}
}

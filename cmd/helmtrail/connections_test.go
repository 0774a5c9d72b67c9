package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// administrator creates a ServiceAccount with all permissions, which is removed
// when the test ends, and returns a token.
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

// adminConfig returns the test cluster's kubeconfig and the parts that its
// context names.
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

// watchesAndInstalls checks that a cluster's watch sees Helm's changes, and that an
// operation reaches the cluster.
func (h *server) watchesAndInstalls(t *testing.T) {
	t.Helper()
	namespace := clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "seen", clustertest.Chart(t), "--namespace", namespace)
	eventually(t, "the watch sees a release", func() bool {
		_, answer := h.ask(t, http.MethodGet, h.releases(namespace), "")
		return strings.Contains(answer, `"seen"`)
	})
	session := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	if kind, last := end(t, h.events(t.Context(), t, session.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Errorf("the install ended %s: %s", kind, last.Message)
	}
}

// printCredential is the credential plugin of these tests. It prints the token in
// one file with a short lifetime, and counts its calls in another.
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
	t.Parallel()
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
	eventually(t, "the unknown token is reported", func() bool { return h.shown(t, h.cluster).Problem != "" })
	replace(administrator(t))
	h.waitReady(t)
	before := calls()
	eventually(t, "its token has expired", func() bool {
		h.watchesAndInstalls(t)
		return calls() > before+1
	})
}

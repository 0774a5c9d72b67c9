package main

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// serverAccount creates an account with the permissions that helmtrail itself needs. It
// also returns functions that withdraw and restore them.
func serverAccount(t *testing.T) (token string, withdraw, grant func()) {
	t.Helper()
	namespace := clustertest.Namespace(t)
	_, token = account(t, namespace, "helmtrail")
	bindings, role := rbac(t).ClusterRoleBindings(), exampleRole(t, "server")
	grant = func() {
		t.Helper()
		_, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "helmtrail"}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	withdraw = func() {
		t.Helper()
		if err := bindings.Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	grant()
	t.Cleanup(withdraw)
	return token, withdraw, grant
}

// https://github.com/komodorio/helm-dashboard/issues/62: a cluster without
// permissions must not look empty, and running operations must not end.
func TestPermissionsWithdrawnWhileItRuns(t *testing.T) {
	t.Parallel()
	token, withdraw, grant := serverAccount(t)
	path, proxy, edit := behindProxy(t)
	edit(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxy.url })
	useToken(t, path, token)
	namespace := clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "known", clustertest.Chart(t), "--namespace", namespace)

	h := serveOn(t, arguments{helm: standIn(t, "while :; do echo line; sleep 0.1; done"), kubeconfig: path})
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	var lines atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- h.frames(t.Context(), answer.Events, func(f frame) bool {
			if f.event == string(helmtrail.TypeLog) {
				lines.Add(1)
			}
			return true
		})
	}()
	moreLines := func(what string) {
		before := lines.Load()
		eventually(t, what, func() bool { return lines.Load() > before+5 })
	}
	moreLines("the log begins")

	withdraw()
	// An open watch continues for minutes: the API server checks the permission
	// when it starts.
	proxy.cut()
	eventually(t, "the missing permission is reported", func() bool { return strings.Contains(h.shown(t, h.cluster).Problem, "forbidden") })
	if lost := h.shown(t, h.cluster); lost.Reachable || !lost.Synced || !strings.Contains(lost.Problem, "secrets") {
		t.Errorf("the cluster is shown as %+v, want the missing permission", lost)
	}
	moreLines("the log goes on")
	if _, list := h.ask(t, http.MethodGet, h.releases(namespace), ""); !strings.Contains(list, `"known"`) {
		t.Errorf("the last known state is not shown: %s", list)
	}
	if reachable := metric(h.text(t, "/metrics"), `cluster_reachable\{[^}]+\}`); reachable != 0 {
		t.Errorf("the metric says reachable %v", reachable)
	}
	eventually(t, "the metric shows that the watch was restarted", func() bool {
		return metric(h.text(t, "/metrics"), `watch_restarts_total\{[^}]+\}`) >= 1
	})

	grant()
	eventually(t, "the permission is back", func() bool { c := h.shown(t, h.cluster); return c.Reachable && c.Problem == "" })
	clustertest.Helm(t, 4, "install", "later", clustertest.Chart(t), "--namespace", namespace)
	eventually(t, "the watch continues", func() bool {
		_, list := h.ask(t, http.MethodGet, h.releases(namespace), "")
		return strings.Contains(list, `"later"`)
	})
	moreLines("the log still goes on")
	if code, text := h.ask(t, http.MethodPost, h.release(namespace, "web")+"/sessions/"+answer.SessionID+"/cancel", `{"force":true}`); code != http.StatusAccepted {
		t.Errorf("cancel: %d %s", code, text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// secondCluster is a dev cluster besides the tests' own. It can be stopped and
// restarted.
type secondCluster struct {
	folder  string
	command *exec.Cmd
}

func (c *secondCluster) start(t *testing.T) {
	t.Helper()
	c.command = exec.Command(clustertest.Binary(t, "devcluster"), "up", "--dir", c.folder)
	output, err := c.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ready ") {
			go func() {
				for lines.Scan() { // its output must not block
				}
			}()
			return
		}
	}
	t.Fatalf("the second cluster did not start: %v", c.command.Wait())
}

func (c *secondCluster) stop(t *testing.T) {
	t.Helper()
	if c.command == nil {
		return
	}
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = c.command.Wait() // its exit code does not matter
	c.command = nil
}

// shownCluster is a cluster as /clusters lists it.
type shownCluster struct {
	ID                string
	Reachable, Synced bool
	Problem           string
}

func (h *server) shown(t *testing.T, id string) shownCluster {
	t.Helper()
	var list struct{ Items []shownCluster }
	h.get(t, "/clusters", &list)
	at := slices.IndexFunc(list.Items, func(c shownCluster) bool { return c.ID == id })
	if at < 0 {
		t.Fatalf("cluster %s is not among %+v", id, list.Items)
	}
	return list.Items[at]
}

func TestAnUnreachableClusterDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	second := &secondCluster{folder: filepath.Join(t.TempDir(), "cluster")}
	second.start(t)
	t.Cleanup(func() { second.stop(t) })
	kubeconfig := filepath.Join(second.folder, "kubeconfig")

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--cluster", "second=" + kubeconfig}})
	namespace := clustertest.Namespace(t)
	other := *h
	other.cluster = "second"
	answer := other.submit(t, http.MethodPost, other.releases("default"), object{"name": "there", "chart": object{"ref": "web"}})
	other.events(t.Context(), t, answer.Events, 1)

	second.stop(t)
	eventually(t, "the loss is seen", func() bool { return !h.shown(t, "second").Reachable })
	if lost := h.shown(t, "second"); lost.Problem == "" || !lost.Synced {
		t.Errorf("the lost cluster is shown as %+v, want it synced, with the reason", lost)
	}
	// Its last known state is still shown, and the other cluster works.
	var list struct{ Items []struct{ Name string } }
	other.get(t, other.releases("default"), &list)
	if len(list.Items) != 1 || list.Items[0].Name != "there" {
		t.Errorf("the lost cluster's list is %+v", list.Items)
	}
	answer = h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "here", "chart": object{"ref": "web"}})
	h.events(t.Context(), t, answer.Events, 1)
	if response, err := h.client.Get(h.url + "/readyz"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("one lost cluster makes the whole server unready: %v", err)
	} else {
		response.Body.Close()
	}

	second.start(t)
	eventually(t, "the cluster is seen again", func() bool { return h.shown(t, "second").Reachable })
	answer = other.submit(t, http.MethodPut, other.release("default", "there"), object{"chart": object{"ref": "web"}})
	other.events(t.Context(), t, answer.Events, 1)
	eventually(t, "the upgrade is shown", func() bool {
		var i item
		other.get(t, other.release("default", "there"), &i)
		return i.Revision == 2 && i.Status == "deployed"
	})
}

// The API server of this cluster accepts connections and never answers.
func TestAClusterThatNeverAnswersDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	config, cluster, _ := adminConfig(t)
	cluster.Server = "https://" + silent.Addr().String()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), wait: "/healthz", more: []string{
		"--auth", "kubernetes", "--context", currentContext(t), "--cluster", "silent=" + writeKubeconfig(t, config),
	}})
	namespace := clustertest.Namespace(t)
	operator, token := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	// Like a browser that has signed in to both.
	cookies := "helmtrail-" + h.cluster + "=" + token + "; helmtrail-silent=" + token
	ask := func(path string, answer any) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), atOnce)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", cookies)
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("GET %s answered %d, %v", path, response.StatusCode, err)
		}
	}
	var me struct {
		Clusters []struct {
			ID   string
			User *string
		}
	}
	var list struct{ Items []shownCluster }
	eventually(t, "the silent cluster has a problem", func() bool {
		ask("/me", &me)
		ask("/clusters", &list)
		return len(list.Items) == 2 && !list.Items[1].Reachable && list.Items[1].Problem != "" && list.Items[1].Problem != "not asked yet"
	})
	if len(me.Clusters) != 2 || me.Clusters[0].User == nil || *me.Clusters[0].User != operator || me.Clusters[1].User != nil {
		t.Errorf("/me is %+v, want the user of the first cluster", me)
	}
	ask("/charts", &struct{}{})
	h.waitReady(t)
	owner := h.holding(token)
	answer := owner.submit(t, http.MethodPost, h.releases(namespace), object{"name": "here", "chart": object{"ref": "web"}})
	if kind, last := end(t, owner.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Errorf("the install ended %s: %s", kind, last.Message)
	}
}

// A token in a header is for the default cluster if the path names none.
func TestTheDefaultClusterCanBeNamed(t *testing.T) {
	t.Parallel()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{
		"--auth", "kubernetes", "--context", currentContext(t), "--cluster", "other=" + clustertest.Kubeconfig(t), "--default-cluster", "other",
	}})
	var refused struct{ Details struct{ Cluster string } }
	if code := h.call(t, http.MethodGet, "/metrics", nil, &refused); code != http.StatusUnauthorized || refused.Details.Cluster != "other" {
		t.Errorf("without a token /metrics answers %d and asks to sign in to %q, want other", code, refused.Details.Cluster)
	}
	namespace := clustertest.Namespace(t)
	_, token := account(t, namespace, "somebody")
	var me struct {
		Clusters []struct {
			ID   string
			User *string
		}
	}
	h.holding(token).get(t, "/me", &me)
	for _, c := range me.Clusters {
		if known := c.User != nil; known != (c.ID == "other") {
			t.Errorf("the token is known in %s: %v", c.ID, known)
		}
	}

	var log bytes.Buffer
	code := run(t.Context(), []string{
		"serve", "--kubeconfig", clustertest.Kubeconfig(t), "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--default-cluster", "nowhere",
	}, io.Discard, &log)
	if code != 1 || !strings.Contains(log.String(), `--default-cluster "nowhere"`) {
		t.Errorf("a default cluster that does not exist: %d %s", code, log.String())
	}
}

func currentContext(t *testing.T) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	return config.CurrentContext
}

// kubeconfigFor returns a kubeconfig of the test cluster with a token.
func kubeconfigFor(t *testing.T, token string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeToken(t, path, token)
	return path
}

// writeToken replaces such a kubeconfig atomically.
func writeToken(t *testing.T, path, token string) {
	t.Helper()
	admin, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["limited"] = admin.Clusters[admin.Contexts[admin.CurrentContext].Cluster]
	config.AuthInfos["limited"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["limited"] = &clientcmdapi.Context{Cluster: "limited", AuthInfo: "limited"}
	config.CurrentContext = "limited"
	if err := clientcmd.WriteToFile(*config, path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// Helm-dashboard failed completely without permission to list Secrets in all
// namespaces: https://github.com/komodorio/helm-dashboard/issues/62.
func TestPermissionsInSomeNamespacesAreEnoughForThem(t *testing.T) {
	t.Parallel()
	allowed, denied, elsewhere := clustertest.Namespace(t), clustertest.Namespace(t), clustertest.Namespace(t)
	user, token := account(t, allowed, "helmtrail")
	bind(t, allowed, user, exampleRole(t, "operator"))
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "--namespace", allowed)

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), wait: "/healthz", kubeconfig: kubeconfigFor(t, token), more: []string{
		"--namespaces", allowed + "," + denied,
	}})
	eventually(t, "the namespace is read", func() bool {
		code, answer := h.ask(t, http.MethodGet, h.releases(allowed), "")
		return code == http.StatusOK && strings.Contains(answer, `"web"`)
	})
	// An empty list would be wrong.
	code, answer := h.ask(t, http.MethodGet, h.releases(denied), "")
	if code != http.StatusServiceUnavailable || !strings.Contains(answer, "secrets") || !strings.Contains(answer, denied) || !strings.Contains(answer, "list") {
		t.Errorf("the namespace without permission answers %d %s, want 503 with verb, resource and namespace", code, answer)
	}
	if code, all := h.ask(t, http.MethodGet, "/"+h.cluster+"/releases", ""); code != http.StatusServiceUnavailable || !strings.Contains(all, denied) {
		t.Errorf("the list of all namespaces, which is incomplete, answers %d %s", code, all)
	}
	var refused struct {
		Code    string
		Details struct{ Verb, Resource, Namespace string }
	}
	code = h.call(t, http.MethodGet, h.releases(elsewhere), nil, &refused)
	if d := refused.Details; code != http.StatusForbidden || refused.Code != "forbidden" || d.Verb != "list" || d.Resource != "secrets" || d.Namespace != elsewhere {
		t.Errorf("a namespace that is not watched answers %d %+v", code, refused)
	}
	// The console's contract reports the same.
	for namespace, want := range map[string]int{allowed: http.StatusOK, denied: http.StatusBadGateway, elsewhere: http.StatusForbidden} {
		code, answer := h.ask(t, http.MethodGet, "/api/helm/releases?ns="+namespace, "")
		if code != want || code != http.StatusOK && !strings.Contains(answer, namespace) {
			t.Errorf("the console's list of %s answers %d %.300s, want %d", namespace, code, answer, want)
		}
	}
	if c := h.shown(t, "limited"); c.Synced || c.Problem == "" {
		t.Errorf("the cluster is shown as %+v, want the reason why it is incomplete", c)
	}
	session := h.submit(t, http.MethodPut, h.release(allowed, "web"), object{"chart": object{"ref": "web"}})
	h.events(t.Context(), t, session.Events, 1)
}

// A token that is replaced in the file is used without a restart.
func TestTheKubeconfigIsReadAgain(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	_, token := account(t, namespace, "helmtrail")
	_, err := rbac(t).ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "helmtrail"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: exampleRole(t, "server")},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bindings := rbac(t).ClusterRoleBindings()
	t.Cleanup(func() {
		if err := bindings.Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	path := kubeconfigFor(t, "not yet a token")
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), wait: "/healthz", kubeconfig: path})
	eventually(t, "the bad token is reported", func() bool { return h.shown(t, "limited").Problem != "" && !h.shown(t, "limited").Synced })
	writeToken(t, path, token)
	eventually(t, "the good token is used", func() bool { return h.shown(t, "limited").Synced })
}

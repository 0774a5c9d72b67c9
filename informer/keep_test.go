package informer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacv1client "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// kept collects what a keeper receives about one namespace.
type kept struct {
	namespace string

	mu      sync.Mutex
	records map[string][]byte
	lines   []string
	synced  bool
	gaps    []time.Time
}

func (k *kept) Record(revision *decoder.Revision, data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if revision.Namespace == k.namespace {
		k.records[revision.Digest] = bytes.Clone(data)
	}
}

func (k *kept) See(t decoder.Transition) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.Revision.Namespace != k.namespace {
		return
	}
	if _, ok := k.records[t.Revision.Digest]; !ok && t.Revision.Digest != "" {
		k.lines = append(k.lines, "reported before its record was handed over")
	}
	text := fmt.Sprintf("%d %s", t.Revision.Number, t.Revision.Status())
	if t.Change != decoder.ChangeStatus {
		text += fmt.Sprintf(" (%s)", t.Change)
	}
	k.lines = append(k.lines, text)
}

func (k *kept) Synced(string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.synced = true
}

func (k *kept) Missed(_ string, from time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gaps = append(k.gaps, from)
}

func (k *kept) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		k.mu.Lock()
		done := ok()
		lines := slices.Clone(k.lines)
		k.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: timed out; reported %q", what, lines)
		}
	}
}

// A keeper receives the bytes of every state before the state itself, also of
// states that are not transitions, and is notified of gaps in the watch.
func TestAKeeperReceivesEverything(t *testing.T) {
	p, kubeconfig := startProxy(t)
	c := open(t, kubeconfig)
	ns := clustertest.Namespace(t)
	create(t, ns, releaseSecret("old", 1, decoder.StatusSuperseded))
	create(t, ns, releaseSecret("old", 2, decoder.StatusDeployed))
	k := &kept{namespace: ns, records: map[string][]byte{}}
	c.Keep(k)
	run(t, c)
	k.wait(t, "the inventory", func() bool { return k.synced })
	k.wait(t, "the newest revision's record", func() bool { return slices.Contains(k.lines, "2 deployed ()") })
	all := c.All(ns)
	if len(all) != 2 {
		t.Fatalf("%d revisions in all, want 2", len(all))
	}
	for _, rev := range all {
		c.Want(rev)
	}
	k.wait(t, "the wanted record", func() bool { return slices.Contains(k.lines, "1 superseded ()") })

	core := clustertest.Core(t).Secrets(ns)
	secret, err := core.Get(t.Context(), "sh.helm.release.v1.old.v2", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rewritten := releaseSecret("old", 2, decoder.StatusDeployed)
	secret.Data = rewritten.Data
	secret.Data["release"] = append(secret.Data["release"], '\n')
	if _, err := core.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	k.wait(t, "the rewritten record", func() bool { return len(k.records) == 3 })
	clustertest.Helm(t, 4, "uninstall", "old", "-n", ns)
	k.wait(t, "the uninstall", func() bool { return slices.Contains(k.lines, "2 uninstalling (uninstalled)") })
	k.mu.Lock()
	want := []string{
		"2 deployed ()", "1 superseded ()", "2 deployed ()", "2 uninstalling",
		"1 superseded (uninstalled)", "2 uninstalling (uninstalled)",
	}
	if diff := cmp.Diff(want, k.lines); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	k.mu.Unlock()

	before := time.Now()
	p.set(talksNonsense)
	waitReachable(t, c, false)
	p.set(opened)
	k.wait(t, "the gap", func() bool { return len(k.gaps) > 0 && k.gaps[0].After(before.Add(-time.Second)) })
}

// A namespace that was deleted and created again is distinguished from the old one.
func TestNamespacesOfOneNameAreDistinguished(t *testing.T) {
	c := open(t, clustertest.Kubeconfig(t))
	run(t, c)
	ns := clustertest.Namespace(t)
	uid, err := c.NamespaceUID(t.Context(), ns)
	if err != nil || uid == "" {
		t.Fatalf("the UID is %q, %v", uid, err)
	}
	waitUntil(t, func() bool { return c.KnownNamespaceUID(ns) == uid })
	if cluster, err := c.UID(t.Context()); err != nil || cluster == "" || cluster != c.KnownNamespaceUID("kube-system") {
		t.Errorf("the cluster's UID is %q, %v", cluster, err)
	}
	if uid, err := c.NamespaceUID(t.Context(), "no-such-namespace"); uid != "" || err != nil {
		t.Errorf("of no namespace: %q, %v", uid, err)
	}
	namespaces := clustertest.Core(t).Namespaces()
	if err := namespaces.Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return c.KnownNamespaceUID(ns) == "" })
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	if _, err := namespaces.Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { known := c.KnownNamespaceUID(ns); return known != "" && known != uid })
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out")
		}
	}
}

// If namespaces may not be watched, their UIDs are unknown. Everything else is
// still known.
func TestNamespacesThatMayNotBeWatchedAreUnknown(t *testing.T) {
	ns := clustertest.Namespace(t)
	c := restricted(t, ns)
	run(t, c)
	waitSynced(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if uid, err := c.NamespaceUID(ctx, ns); uid != "" || err != nil {
		t.Errorf("the namespace's UID is %q, %v", uid, err)
	}
	if uid, err := c.UID(ctx); uid != "" || err != nil {
		t.Errorf("the cluster's UID is %q, %v", uid, err)
	}
}

// Permission to read the watched namespaces is enough to distinguish them.
func TestPermissionForOneNamespaceIsEnoughToDistinguishIt(t *testing.T) {
	ns := clustertest.Namespace(t)
	c := restricted(t, ns)
	roles, err := rbacv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "see-" + ns}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{ns}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "see-" + ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "see-" + ns},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "restricted-" + ns}},
	}
	if _, err := roles.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(roles.ClusterRoleBindings().Delete(ctx, "see-"+ns, metav1.DeleteOptions{}), roles.ClusterRoles().Delete(ctx, "see-"+ns, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	run(t, c)
	waitUntil(t, func() bool { return c.KnownNamespaceUID(ns) != "" })
	if uid, err := c.NamespaceUID(t.Context(), ns); uid != c.KnownNamespaceUID(ns) || err != nil {
		t.Errorf("the namespace's UID is %q, %v", uid, err)
	}
}

// restricted is the test cluster for a user who may read the Secrets of one
// namespace and nothing else.
func restricted(t *testing.T, ns string) *informer.Cluster {
	t.Helper()
	config := clustertest.Config(t)
	roles, err := rbacv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "restricted-" + ns}},
	}
	if _, err := roles.Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	file, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	file.AuthInfos[file.Contexts[file.CurrentContext].AuthInfo].Impersonate = "restricted-" + ns
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		t.Fatal(err)
	}
	clusters, err := informer.Open(informer.Options{Kubeconfig: path, Namespaces: []string{ns}})
	if err != nil {
		t.Fatal(err)
	}
	return clusters[0]
}

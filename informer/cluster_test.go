package informer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// patience bounds every wait for the cluster. It is long, since tests share
// their processors; a failing test is the only one that needs it all.
const patience = time.Minute

// open returns the test cluster, not watched yet.
func open(t testing.TB, kubeconfig string) *informer.Cluster {
	t.Helper()
	clusters, err := informer.Open(informer.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return clusters[0]
}

// run watches the cluster until the test ends.
func run(t testing.TB, c *informer.Cluster) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func waitSynced(t testing.TB, c *informer.Cluster) {
	t.Helper()
	select {
	case <-c.Synced():
	case <-time.After(patience):
		t.Fatalf("the cluster is not synced: %+v", c.Health())
	}
}

func watched(t testing.TB) *informer.Cluster {
	t.Helper()
	c := open(t, clustertest.Kubeconfig(t))
	run(t, c)
	waitSynced(t, c)
	return c
}

// journal collects what observers are told.
type journal struct {
	mu    sync.Mutex
	lines []string
	all   []decoder.Transition
	wake  chan struct{}
}

func newJournal() *journal { return &journal{wake: make(chan struct{}, 1)} }

func (j *journal) add(t decoder.Transition) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, t)
	j.lines = append(j.lines, line(t))
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// line is a transition in few words.
func line(t decoder.Transition) string {
	text := fmt.Sprintf("%d %s", t.Revision.Number, t.Revision.Status())
	switch {
	case t.Change != decoder.ChangeStatus:
		text = fmt.Sprintf("%d %s", t.Revision.Number, t.Change)
	case t.Previous != "":
		text = fmt.Sprintf("%d %s -> %s", t.Revision.Number, t.Previous, t.Revision.Status())
	}
	if t.Late {
		text += " late"
	}
	return text
}

// until waits for a line and returns all up to it, taking them away.
func (j *journal) until(t testing.TB, last string) []string {
	t.Helper()
	deadline := time.After(patience)
	for {
		j.mu.Lock()
		for i, line := range j.lines {
			if line == last {
				got := j.lines[:i+1]
				j.lines = j.lines[i+1:]
				j.mu.Unlock()
				return got
			}
		}
		got := strings.Join(j.lines, "\n")
		j.mu.Unlock()
		select {
		case <-j.wake:
		case <-deadline:
			t.Fatalf("%q was not told, only:\n%s", last, got)
		}
	}
}

func (j *journal) find(t testing.TB, want string) decoder.Transition {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, transition := range j.all {
		if line(transition) == want {
			return transition
		}
	}
	t.Fatalf("%q was not told", want)
	return decoder.Transition{}
}

// same compares the lines up to last with what is expected.
func (j *journal) same(t testing.TB, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, j.until(t, want[len(want)-1])); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
}

// releaseSecret makes a Secret like Helm's, with a record that is plain JSON.
func releaseSecret(name string, revision int, status decoder.Status) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision),
			Labels: map[string]string{
				"owner": "helm", "name": name, "version": fmt.Sprint(revision), "status": string(status),
			},
		},
		Type: decoder.SecretType,
		Data: map[string][]byte{"release": record(name, revision, status)},
	}
}

func create(t testing.TB, namespace string, secret *corev1.Secret) *corev1.Secret {
	t.Helper()
	created, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func remove(t testing.TB, namespace, secret string) {
	t.Helper()
	if err := clustertest.Core(t).Secrets(namespace).Delete(t.Context(), secret, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// barrier writes one more release and waits until it is told: whatever was
// written before it has been told then.
func barrier(t testing.TB, c *informer.Cluster, namespace, name string) {
	t.Helper()
	told := newJournal()
	defer c.Observe(namespace, name, told.add)()
	create(t, namespace, releaseSecret(name, 1, decoder.StatusDeployed))
	told.until(t, "1 deployed")
}

func TestTransitionsOfBothHelms(t *testing.T) {
	c := watched(t)
	chart := clustertest.Chart(t)
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm%d", version), func(t *testing.T) {
			ns := clustertest.Namespace(t)
			told := newJournal()
			defer c.Observe(ns, "web", told.add)()

			clustertest.Helm(t, version, "install", "web", chart, "-n", ns)
			told.same(t, "1 pending-install", "1 pending-install -> deployed")

			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", ns, "--set", "tag=2")
			told.same(t, "2 pending-upgrade", "1 deployed -> superseded", "2 pending-upgrade -> deployed")

			clustertest.Helm(t, version, "rollback", "web", "1", "-n", ns)
			told.same(t, "3 pending-rollback", "2 deployed -> superseded", "3 pending-rollback -> deployed")
			rolledBack := told.find(t, "3 pending-rollback -> deployed").Revision
			if rolledBack.Header == nil || rolledBack.Header.Description != "Rollback to 1" {
				t.Errorf("the rollback's header is %+v", rolledBack.Header)
			}

			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", ns, "--history-max", "2")
			told.same(t, "1 pruned", "2 pruned", "4 pending-upgrade", "3 deployed -> superseded", "4 pending-upgrade -> deployed")

			if got := c.Revisions(ns, "web"); len(got) != 2 || got[0].Number != 3 || got[1].Number != 4 {
				t.Errorf("%d revisions in the index, want 3 and 4", len(got))
			}
			latest := c.Latest(ns)
			if len(latest) != 1 || latest[0].Number != 4 || latest[0].Header.Chart != "web" || latest[0].Header.AppVersion != "4.5" {
				t.Errorf("the newest revisions of the namespace are %+v", latest)
			}

			clustertest.Helm(t, version, "uninstall", "web", "-n", ns)
			told.same(t, "4 deployed -> uninstalling", "3 uninstalled", "4 uninstalled")
			if got := c.Latest(ns); len(got) != 0 {
				t.Errorf("after the uninstall there is still %+v", got[0])
			}

			barrier(t, c, ns, "web-barrier")
			told.mu.Lock()
			defer told.mu.Unlock()
			if len(told.lines) > 0 {
				t.Errorf("told beyond the end: %q", told.lines)
			}
		})
	}
}

func TestDeleteByHandIsRemoved(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	told := newJournal()
	defer c.Observe(ns, "web", told.add)()
	create(t, ns, releaseSecret("web", 1, decoder.StatusSuperseded))
	create(t, ns, releaseSecret("web", 2, decoder.StatusDeployed))
	remove(t, ns, "sh.helm.release.v1.web.v2")
	remove(t, ns, "sh.helm.release.v1.web.v1")
	told.same(t, "1 superseded", "2 deployed", "2 removed", "1 removed")
}

// Losing the label takes a Secret out of Helm's sight, which is as good as a
// delete.
func TestLosingTheOwnerLabelIsRemoved(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	told := newJournal()
	defer c.Observe(ns, "web", told.add)()
	secret := create(t, ns, releaseSecret("web", 1, decoder.StatusDeployed))
	secret.Labels["owner"] = "somebody"
	if _, err := clustertest.Core(t).Secrets(ns).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	told.same(t, "1 deployed", "1 removed")
}

func TestOtherSecretsNeverArrive(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	var mu sync.Mutex
	var told []string
	stop := c.ObserveAll(func(tr decoder.Transition) {
		mu.Lock()
		defer mu.Unlock()
		if tr.Revision.Namespace == ns {
			told = append(told, tr.Revision.Secret.Name)
		}
	})
	defer stop()

	opaque := releaseSecret("opaque", 1, decoder.StatusDeployed)
	opaque.Type = corev1.SecretTypeOpaque
	create(t, ns, opaque)
	unowned := releaseSecret("unowned", 1, decoder.StatusDeployed)
	delete(unowned.Labels, "owner")
	create(t, ns, unowned)
	ignored := c.Health().Ignored
	empty := releaseSecret("empty", 1, decoder.StatusDeployed)
	empty.Data = map[string][]byte{"other": []byte("x")}
	create(t, ns, empty)
	barrier(t, c, ns, "barrier")

	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"sh.helm.release.v1.barrier.v1"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if got := c.Latest(ns); len(got) != 1 || got[0].Name != "barrier" {
		t.Errorf("the index lists %d releases, want the barrier only", len(got))
	}
	if got := c.Health().Ignored; got <= ignored {
		t.Errorf("the Secret without a record is not counted: %d after %d", got, ignored)
	}
}

// What was there before has its newest record read without anybody asking.
func TestInventoryGetsHeaders(t *testing.T) {
	ns := clustertest.Namespace(t)
	create(t, ns, releaseSecret("web", 1, decoder.StatusSuperseded))
	lying := releaseSecret("web", 2, decoder.StatusFailed)
	lying.Labels["status"] = "deployed"
	create(t, ns, lying)

	c := open(t, clustertest.Kubeconfig(t))
	told := newJournal()
	defer c.Observe(ns, "web", told.add)()
	run(t, c)
	waitSynced(t, c)
	deadline := time.Now().Add(patience)
	for c.Latest(ns)[0].Header == nil {
		if time.Now().After(deadline) {
			t.Fatal("the newest record was not read")
		}
		time.Sleep(5 * time.Millisecond)
	}
	revisions := c.Revisions(ns, "web")
	if revisions[0].Header != nil {
		t.Error("the older record was read too")
	}
	if got := revisions[1].Status(); got != decoder.StatusFailed {
		t.Errorf("status %q, want the record's", got)
	}
	remove(t, ns, "sh.helm.release.v1.web.v2")
	told.same(t, "2 removed")
}

func TestReadAndRecordAskTheAPIServer(t *testing.T) {
	c := open(t, clustertest.Kubeconfig(t)) // not running
	t.Cleanup(func() { closeConnections(t, c) })
	ns := clustertest.Namespace(t)
	chart := clustertest.Chart(t)
	clustertest.Helm(t, 4, "install", "web", chart, "-n", ns)
	clustertest.Helm(t, 4, "upgrade", "web", chart, "-n", ns, "--set", "tag=2", "--description", "second")

	revisions, err := c.Read(t.Context(), ns, "web")
	if err != nil {
		t.Fatal(err)
	}
	if len(revisions) != 2 || revisions[0].Number != 1 || revisions[1].Number != 2 {
		t.Fatalf("revisions %v, want 1 and 2", revisions)
	}
	if revisions[0].Header != nil || revisions[0].Status() != decoder.StatusSuperseded {
		t.Errorf("the older revision is %+v", revisions[0])
	}
	if header := revisions[1].Header; header == nil || header.Description != "second" {
		t.Errorf("the newest revision's header is %+v", header)
	}

	record, err := c.Record(t.Context(), ns, "web", 2)
	if err != nil {
		t.Fatal(err)
	}
	if string(record.Config) != `{"tag":2}` || record.SecretNamespace != ns || !strings.Contains(record.Manifest, "kind: Deployment") {
		t.Errorf("the record has config %s, namespace %q", record.Config, record.SecretNamespace)
	}

	none, err := c.Read(t.Context(), ns, "nobody")
	if err != nil || len(none) != 0 {
		t.Errorf("reading no release gave %v, %v", none, err)
	}
	for _, missing := range []struct {
		name     string
		revision int
	}{{"web", 3}, {"nobody", 1}, {"no/body", 1}} {
		if _, err := c.Record(t.Context(), ns, missing.name, missing.revision); !errors.Is(err, stream.ErrNotFound) {
			t.Errorf("record of %v: %v, want ErrNotFound", missing, err)
		}
	}

	// A Secret that only looks like Helm's is not read.
	opaque := releaseSecret("opaque", 1, decoder.StatusDeployed)
	opaque.Type = corev1.SecretTypeOpaque
	create(t, ns, opaque)
	if _, err := c.Record(t.Context(), ns, "opaque", 1); !errors.Is(err, stream.ErrNotFound) {
		t.Errorf("record of a Secret of another type: %v, want ErrNotFound", err)
	}

	// One with an unusual name is.
	renamed := releaseSecret("renamed", 1, decoder.StatusDeployed)
	renamed.Name = "my-own-name"
	create(t, ns, renamed)
	if _, err := c.Record(t.Context(), ns, "renamed", 1); err != nil {
		t.Errorf("record in a Secret of another name: %v", err)
	}
}

// closeConnections runs the cluster with an ended context, which closes what
// its reads have opened.
func closeConnections(t *testing.T, c *informer.Cluster) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestKubeconfigServesHelm(t *testing.T) {
	c := open(t, clustertest.Kubeconfig(t))
	data, err := c.Kubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ns := clustertest.Namespace(t)
	for _, version := range clustertest.Versions {
		release := fmt.Sprintf("web%d", version)
		clustertest.Helm(t, version, "install", release, clustertest.Chart(t), "-n", ns, "--kubeconfig", path)
		if out := clustertest.Helm(t, version, "list", "-n", ns, "-q", "--kubeconfig", path); !strings.Contains(out, release) {
			t.Errorf("helm%d list says %q", version, out)
		}
	}
}

func TestUnreachableClusterSaysWhyAndTriesOn(t *testing.T) {
	c := open(t, writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, "down"))
	if h := c.Health(); h.Reachable || h.Synced || h.Error == "" {
		t.Errorf("before Run: %+v", h)
	}
	run(t, c)
	deadline := time.Now().Add(patience)
	for !strings.Contains(c.Health().Error, "connection refused") {
		if time.Now().After(deadline) {
			t.Fatalf("it does not say why: %+v", c.Health())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if h := c.Health(); h.Reachable || h.Synced || strings.Contains(h.Error, "secret@") {
		t.Errorf("unreachable: %+v", h)
	}
	if _, err := c.Read(t.Context(), "ns", "web"); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("reading gave %v", err)
	}
}

func TestStopIsFinal(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	var mu sync.Mutex
	stopped, after := false, 0
	stop := c.Observe(ns, "web", func(decoder.Transition) {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			after++
		}
	})
	create(t, ns, releaseSecret("web", 1, decoder.StatusDeployed))
	stop()
	mu.Lock()
	stopped = true
	mu.Unlock()
	create(t, ns, releaseSecret("web", 2, decoder.StatusDeployed))
	barrier(t, c, ns, "barrier")
	mu.Lock()
	defer mu.Unlock()
	if after > 0 {
		t.Errorf("%d calls after stop", after)
	}
}

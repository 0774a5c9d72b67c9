package informer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// patience bounds every wait for the cluster. It is long because tests share
// their processors; a failing test is the only one that waits that long.
const patience = time.Minute

// open returns the test cluster. Its watch is not running.
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

// journal collects the transitions that observers receive.
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

// line formats a transition briefly.
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

// until waits for a line, removes all lines up to and including it, and returns them.
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
			t.Fatalf("%q was not reported, only:\n%s", last, got)
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
	t.Fatalf("%q was not reported", want)
	return decoder.Transition{}
}

// same compares the lines up to the last of want with want.
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

// barrier writes one more release and waits until it is reported. By then
// everything written before it has been reported.
func barrier(t testing.TB, c *informer.Cluster, namespace, name string) {
	t.Helper()
	reported := newJournal()
	defer c.Observe(namespace, name, reported.add)()
	create(t, namespace, releaseSecret(name, 1, decoder.StatusDeployed))
	reported.until(t, "1 deployed")
}

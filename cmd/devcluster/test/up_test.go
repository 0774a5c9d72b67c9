package test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// TestUpKeeps checks that a second up on the same folder is the same cluster, that a
// kubeconfig of the first run works with the second, and that neither leaves anything
// running.
func TestUpKeeps(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	first := up(t, dir)
	kept := filepath.Join(t.TempDir(), "kubeconfig")
	text, err := os.ReadFile(first.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, text, 0o600); err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"k": "v"}}
	if _, err := first.client(t).CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first.stop(t, syscall.SIGTERM)

	second := up(t, dir)
	second.kubeconfig = kept
	got, err := second.client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("with the first run's kubeconfig: %v", err)
	}
	if got.Data["k"] != "v" {
		t.Errorf("data is %v, want what the first run stored", got.Data)
	}
	// The node returns by itself and accepts pods without delay.
	pod := barePod("after-restart", "web:1")
	if _, err := second.client(t).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, podShows(t, second.client(t), "default", "after-restart", isReady))
	second.stop(t, syscall.SIGINT)
}

// TestUpSideBySide checks that two clusters do not interfere, and that their
// kubeconfigs can be merged.
func TestUpSideBySide(t *testing.T) {
	t.Parallel()
	east := up(t, t.TempDir(), "--name", "east")
	west := up(t, t.TempDir(), "--name", "west")
	uid := func(p *process) string {
		ns, err := p.client(t).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(ns.UID)
	}
	if uid(east) == uid(west) {
		t.Error("both kubeconfigs are for the same cluster")
	}
	merged, err := (&clientcmd.ClientConfigLoadingRules{Precedence: []string{east.kubeconfig, west.kubeconfig}}).Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"east", "west"} {
		if merged.Contexts[name] == nil {
			t.Errorf("no context %s in the merged kubeconfig", name)
		}
	}
	east.stop(t, syscall.SIGTERM)
	west.stop(t, syscall.SIGTERM)
}

// TestUpLocks checks that a second up on a folder in use fails with that reason,
// and does not affect the first.
func TestUpLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := up(t, dir)
	second := launch(t, "up", "--dir", dir)
	if err := second.Wait(); err == nil || second.ProcessState.ExitCode() != 1 {
		t.Errorf("second up ended with %v, want exit code 1", err)
	}
	if got := second.stderr.String(); !strings.Contains(got, "in use by another devcluster") {
		t.Errorf("second up printed %q", got)
	}
	if _, err := os.Stat(first.kubeconfig); err != nil {
		t.Errorf("the first cluster's kubeconfig: %v", err)
	}
	first.stop(t, syscall.SIGTERM)
}

// TestUpStopsUnderWatch checks that a client that never disconnects does not keep the
// cluster from stopping.
func TestUpStopsUnderWatch(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir())
	watch, err := p.client(t).CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	p.stop(t, syscall.SIGTERM)
}

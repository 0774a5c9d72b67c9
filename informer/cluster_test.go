package informer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// The newest record of a release that existed before the start is read at once.
func TestInventoryGetsHeaders(t *testing.T) {
	ns := clustertest.Namespace(t)
	create(t, ns, releaseSecret("web", 1, decoder.StatusSuperseded))
	lying := releaseSecret("web", 2, decoder.StatusFailed)
	lying.Labels["status"] = "deployed"
	create(t, ns, lying)

	c := open(t, clustertest.Kubeconfig(t))
	reported := newJournal()
	defer c.Observe(ns, "web", reported.add)()
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
	reported.same(t, "2 removed")
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
		if _, err := c.Record(t.Context(), ns, missing.name, missing.revision); !errors.Is(err, helmtrail.ErrNotFound) {
			t.Errorf("record of %v: %v, want ErrNotFound", missing, err)
		}
	}

	// A Secret that is not of Helm's type is not read, even if it looks like a release.
	opaque := releaseSecret("opaque", 1, decoder.StatusDeployed)
	opaque.Type = corev1.SecretTypeOpaque
	create(t, ns, opaque)
	if _, err := c.Record(t.Context(), ns, "opaque", 1); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("record of a Secret of another type: %v, want ErrNotFound", err)
	}

	// A Helm Secret with an unusual name is read.
	renamed := releaseSecret("renamed", 1, decoder.StatusDeployed)
	renamed.Name = "my-own-name"
	create(t, ns, renamed)
	if _, err := c.Record(t.Context(), ns, "renamed", 1); err != nil {
		t.Errorf("record in a Secret of another name: %v", err)
	}
}

// closeConnections runs the cluster with a context that has ended, which closes
// the connections opened by its reads.
func closeConnections(t *testing.T, c *informer.Cluster) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestKubeconfigServesHelm(t *testing.T) {
	c := open(t, clustertest.Kubeconfig(t))
	data, err := c.Kubeconfig(t.Context(), helmtrail.Credentials{})
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

func TestUnreachableClusterGivesTheReasonAndRetries(t *testing.T) {
	c := open(t, writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, "down"))
	if h := c.Health(); h.Reachable || h.Synced || h.Error == "" {
		t.Errorf("before Run: %+v", h)
	}
	run(t, c)
	deadline := time.Now().Add(patience)
	for !strings.Contains(c.Health().Error, "connection refused") {
		if time.Now().After(deadline) {
			t.Fatalf("the health does not give the reason: %+v", c.Health())
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

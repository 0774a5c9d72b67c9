package informer_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestTransitionsOfBothHelms(t *testing.T) {
	c := watched(t)
	chart := clustertest.Chart(t)
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm%d", version), func(t *testing.T) {
			ns := clustertest.Namespace(t)
			reported := newJournal()
			defer c.Observe(ns, "web", reported.add)()

			clustertest.Helm(t, version, "install", "web", chart, "-n", ns)
			reported.same(t, "1 pending-install", "1 pending-install -> deployed")

			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", ns, "--set", "tag=2")
			reported.same(t, "2 pending-upgrade", "1 deployed -> superseded", "2 pending-upgrade -> deployed")

			clustertest.Helm(t, version, "rollback", "web", "1", "-n", ns)
			reported.same(t, "3 pending-rollback", "2 deployed -> superseded", "3 pending-rollback -> deployed")
			rolledBack := reported.find(t, "3 pending-rollback -> deployed").Revision
			if rolledBack.Header == nil || rolledBack.Header.Description != "Rollback to 1" {
				t.Errorf("the rollback's header is %+v", rolledBack.Header)
			}

			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", ns, "--history-max", "2")
			reported.same(t, "1 pruned", "2 pruned", "4 pending-upgrade", "3 deployed -> superseded", "4 pending-upgrade -> deployed")

			if got := c.Revisions(ns, "web"); len(got) != 2 || got[0].Number != 3 || got[1].Number != 4 {
				t.Errorf("%d revisions in the index, want 3 and 4", len(got))
			}
			latest := c.Latest(ns)
			if len(latest) != 1 || latest[0].Number != 4 || latest[0].Header.Chart != "web" || latest[0].Header.AppVersion != "4.5" {
				t.Errorf("the newest revisions of the namespace are %+v", latest)
			}

			clustertest.Helm(t, version, "uninstall", "web", "-n", ns)
			reported.same(t, "4 deployed -> uninstalling", "3 uninstalled", "4 uninstalled")
			if got := c.Latest(ns); len(got) != 0 {
				t.Errorf("after the uninstall there is still %+v", got[0])
			}

			barrier(t, c, ns, "web-barrier")
			reported.mu.Lock()
			defer reported.mu.Unlock()
			if len(reported.lines) > 0 {
				t.Errorf("reported after the end: %q", reported.lines)
			}
		})
	}
}

func TestDeleteByHandIsRemoved(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	reported := newJournal()
	defer c.Observe(ns, "web", reported.add)()
	create(t, ns, releaseSecret("web", 1, decoder.StatusSuperseded))
	create(t, ns, releaseSecret("web", 2, decoder.StatusDeployed))
	remove(t, ns, "sh.helm.release.v1.web.v2")
	remove(t, ns, "sh.helm.release.v1.web.v1")
	reported.same(t, "1 superseded", "2 deployed", "2 removed", "1 removed")
}

// A Secret that loses the owner label is invisible to Helm, which is the same as
// a delete.
func TestLosingTheOwnerLabelIsRemoved(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	reported := newJournal()
	defer c.Observe(ns, "web", reported.add)()
	secret := create(t, ns, releaseSecret("web", 1, decoder.StatusDeployed))
	secret.Labels["owner"] = "somebody"
	if _, err := clustertest.Core(t).Secrets(ns).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	reported.same(t, "1 deployed", "1 removed")
}

func TestOtherSecretsAreIgnored(t *testing.T) {
	c := watched(t)
	ns := clustertest.Namespace(t)
	var mu sync.Mutex
	var reported []string
	stop := c.ObserveAll(func(tr decoder.Transition) {
		mu.Lock()
		defer mu.Unlock()
		if tr.Revision.Namespace == ns {
			reported = append(reported, tr.Revision.Secret.Name)
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
	if diff := cmp.Diff([]string{"sh.helm.release.v1.barrier.v1"}, reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if got := c.Latest(ns); len(got) != 1 || got[0].Name != "barrier" {
		t.Errorf("the index lists %d releases, want the barrier only", len(got))
	}
	if got := c.Health().Ignored; got <= ignored {
		t.Errorf("the Secret without a record is not counted: %d after %d", got, ignored)
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

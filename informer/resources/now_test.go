package resources_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// counting counts requests.
type counting struct {
	http.RoundTripper
	requests *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// A page asks every few seconds while it is visible.
func TestRepeatedQuestionsMakeNoRequests(t *testing.T) {
	ns := clustertest.Namespace(t)
	apply(t, deployments, ns, deploymentIn(ns, "web", "web:1"))
	record := &decoder.Record{SecretNamespace: ns, Manifest: deploymentIn("", "web", "web:1") + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: missing}}\n"}
	config := clustertest.Config(t)
	untilRows(t, follow(t, tracker(t, config), record), has("Deployment web Ready 1/1"))

	var requests atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, &requests} })
	asked := tracker(t, config)
	read, err := asked.Snapshot(t.Context(), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Deployment web Ready 1/1", "ReplicaSet web-* Ready 1/1", "Pod web-* Running", "ConfigMap missing NotFound NotFound"}
	if diff := cmp.Diff(want, texts(read)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	for n := range 3 {
		now, err := asked.Now(t.Context(), record, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(read, now); diff != "" {
			t.Errorf("rows of question %d (-snapshot +now):\n%s", n, diff)
		}
		if n == 0 {
			requests.Store(0)
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("two more questions made %d requests", n)
	}
}

// After the end of a session, Now must not return older rows than the session did.
func TestNowIsAtLeastAsNewAsASnapshot(t *testing.T) {
	ns := clustertest.Namespace(t)
	tracker, core := tracker(t, clustertest.Config(t)), clustertest.Core(t)
	for n := range 100 {
		name := fmt.Sprintf("made-%d", n)
		record := &decoder.Record{SecretNamespace: ns, Manifest: fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name)}
		if _, err := tracker.Now(t.Context(), record, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := core.ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		read, err := tracker.Snapshot(t.Context(), record, nil)
		if err != nil {
			t.Fatal(err)
		}
		now, err := tracker.Now(t.Context(), record, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(read, now); diff != "" || read[0].Status != "Ready" {
			t.Fatalf("after %d (-snapshot +now):\n%s", n, diff)
		}
	}
}

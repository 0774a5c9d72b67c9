package resources_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// patience bounds every wait; only a failing test waits that long.
const patience = time.Minute

func tracker(t testing.TB, config *rest.Config) *resources.Tracker {
	t.Helper()
	clients, err := resources.ClientsFor(config)
	if err != nil {
		t.Fatal(err)
	}
	tracker := resources.NewTracker(clients)
	t.Cleanup(tracker.Close)
	return tracker
}

// follow follows a record until the test ends, and returns the channel of its rows.
func follow(t *testing.T, tracker *resources.Tracker, record *decoder.Record) <-chan []health.Resource {
	t.Helper()
	return followAs(t, tracker, record, nil)
}

// followAs is follow with a viewer.
func followAs(t *testing.T, tracker *resources.Tracker, record *decoder.Record, viewer helmtrail.Viewer) <-chan []health.Resource {
	t.Helper()
	rows := make(chan []health.Resource, 1000)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- tracker.Follow(ctx, record, viewer, func(r []health.Resource) { rows <- r })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Follow: %v", err)
		}
	})
	return rows
}

// text formats a row briefly, without a name's generated suffix.
func text(r health.Resource) string {
	name := r.Name
	if r.Owner != "" && (r.Kind == "ReplicaSet" || r.Kind == "Pod") {
		name, _, _ = strings.Cut(name, "-")
		name += "-*"
	}
	line := fmt.Sprintf("%s %s %s", r.Kind, name, r.Status)
	if r.Total > 0 {
		line += fmt.Sprintf(" %d/%d", r.Ready, r.Total)
	}
	if r.Reason != "" {
		line += " " + r.Reason
	}
	if r.Hook != "" {
		line += " (" + r.Hook + ")"
	}
	if r.Old {
		line += " old"
	}
	return line
}

func texts(rows []health.Resource) []string {
	lines := []string{}
	for _, r := range rows {
		lines = append(lines, text(r))
	}
	return lines
}

// until reads snapshots up to the first that satisfies done and returns all.
func until(t *testing.T, rows <-chan []health.Resource, done func([]string) bool) [][]string {
	t.Helper()
	var all [][]string
	deadline := time.After(patience)
	for {
		select {
		case r := <-rows:
			all = append(all, texts(r))
			if done(all[len(all)-1]) {
				return all
			}
		case <-deadline:
			t.Fatalf("timed out; the snapshots are:\n%v", all)
		}
	}
}

func readRecord(t *testing.T, namespace, name string) *decoder.Record {
	t.Helper()
	clusters, err := informer.Open(informer.Options{Kubeconfig: clustertest.Kubeconfig(t)})
	if err != nil {
		t.Fatal(err)
	}
	record, err := clusters[0].Record(t.Context(), namespace, name, 1)
	if err != nil {
		t.Fatal(err)
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	if err := clusters[0].Run(ended); err != nil {
		t.Fatal(err)
	}
	return record
}

func TestFollowShowsADeploymentBecomeReady(t *testing.T) {
	ns := clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "-n", ns, "--set", "delay=3s")
	record := readRecord(t, ns, "web")
	tracker := tracker(t, clustertest.Config(t))
	rows := follow(t, tracker, record)

	all := until(t, rows, func(now []string) bool { return slices.Contains(now, "Deployment web Ready 1/1") })
	waiting := slices.ContainsFunc(all, func(rows []string) bool {
		return slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, "Deployment web Progressing 0/1 Less") })
	})
	if !waiting {
		t.Errorf("the Deployment was never shown as waiting: %v", all)
	}
	want := []string{"ConfigMap web Ready", "Service web Ready", "Deployment web Ready 1/1", "ReplicaSet web-* Ready 1/1", "Pod web-* Running"}
	now := all[len(all)-1]
	slices.Sort(now)
	slices.Sort(want)
	if diff := cmp.Diff(want, now); diff != "" {
		t.Errorf("rows at the end (-want +got):\n%s", diff)
	}

	snapshot, err := tracker.Snapshot(t.Context(), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := texts(snapshot)
	slices.Sort(read)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}

	clustertest.Helm(t, 4, "uninstall", "web", "-n", ns)
	until(t, rows, func(now []string) bool {
		slices.Sort(now)
		return slices.Equal(now, []string{"ConfigMap web NotFound NotFound", "Deployment web NotFound NotFound", "Service web NotFound NotFound"})
	})
}

const oddManifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: missing}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: strange}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cluster-admin, namespace: ignored}
`

func TestOddObjectsAreReportedAndAffectNoOthers(t *testing.T) {
	ns := clustertest.Namespace(t)
	record := &decoder.Record{
		SecretNamespace: ns, Manifest: oddManifest,
		Hooks: []decoder.Hook{{
			Manifest: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: gone}\n", Events: []release.HookEvent{release.HookTest},
		}},
	}
	want := []string{"ConfigMap missing NotFound NotFound", "Widget strange Unknown UnknownKind", "ClusterRole cluster-admin Ready"}
	odd := tracker(t, clustertest.Config(t))
	first := <-follow(t, odd, record)
	if diff := cmp.Diff(want, texts(first)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if first[2].Namespace != "" {
		t.Errorf("the ClusterRole is in namespace %q", first[2].Namespace)
	}
	snapshot, err := odd.Snapshot(t.Context(), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, snapshot); diff != "" {
		t.Errorf("the snapshot differs (-followed +read):\n%s", diff)
	}

	nobody := clustertest.Config(t)
	nobody.Impersonate.UserName = "nobody"
	want = []string{"ConfigMap missing Forbidden Forbidden", "Widget strange Unknown UnknownKind", "ClusterRole cluster-admin Forbidden Forbidden", "Job gone Forbidden Forbidden (test)"}
	if diff := cmp.Diff(want, texts(<-follow(t, tracker(t, nobody), record))); diff != "" {
		t.Errorf("rows without rights (-want +got):\n%s", diff)
	}
}

// A release may define the kinds of its own objects.
func TestKindIsFoundOnceItIsDefined(t *testing.T) {
	group := clustertest.Namespace(t) + ".example.com"
	config := clustertest.Config(t)
	record := &decoder.Record{SecretNamespace: "default", Manifest: fmt.Sprintf("apiVersion: %s/v1\nkind: Widget\nmetadata: {name: w}\n", group)}
	rows := follow(t, tracker(t, config), record)
	until(t, rows, func(now []string) bool { return now[0] == "Widget w Unknown UnknownKind" })

	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{}
	if err := definition.UnmarshalJSON(fmt.Appendf(nil, `{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.%[1]s"},
		"spec": {
			"group": "%[1]s", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]
		}
	}`, group)); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	until(t, rows, func(now []string) bool { return now[0] == "Widget w NotFound NotFound" })
}

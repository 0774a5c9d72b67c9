package resources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// untilRows reads snapshots up to the first that satisfies done, and returns it.
func untilRows(t *testing.T, rows <-chan []health.Resource, done func([]health.Resource) bool) []health.Resource {
	t.Helper()
	var now []health.Resource
	deadline := time.After(patience)
	for {
		select {
		case now = <-rows:
			if done(now) {
				return now
			}
		case <-deadline:
			t.Fatalf("timed out; the last rows are\n%s", strings.Join(texts(now), "\n"))
		}
	}
}

func has(line string) func([]health.Resource) bool {
	return func(rows []health.Resource) bool { return slices.Contains(texts(rows), line) }
}

// apply creates objects, written as YAML.
func apply(t *testing.T, resource schema.GroupVersionResource, namespace, text string) {
	t.Helper()
	client, err := dynamic.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(resource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// grant gives a user all permissions in a namespace for the resources of some
// API groups.
func grant(t *testing.T, user, namespace, rule string) {
	t.Helper()
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	apply(t, rbac.WithResource("roles"), namespace, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: some}, rules: [`+rule+`]}`)
	apply(t, rbac.WithResource("rolebindings"), namespace, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: some},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: some}, subjects: [{kind: User, name: `+user+`}]}`)
}

func as(t *testing.T, user string) *rest.Config {
	config := clustertest.Config(t)
	config.Impersonate.UserName = user
	return config
}

const gadgetsCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

func deploymentIn(namespace, name, image string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]q}
spec:
  selector: {matchLabels: {app: shared}}
  template:
    metadata: {labels: {app: shared}}
    spec: {containers: [{name: web, image: %[3]q}]}
`, namespace, name, image)
}

func TestReleaseSpreadsOverTwoNamespacesWithItsOwnKind(t *testing.T) {
	app, db := clustertest.Namespace(t), clustertest.Namespace(t)
	group := app + ".example.com"
	chart := chartOf(t, deploymentIn("", "web", "web:1")+"---"+deploymentIn(db, "db", "db:1")+
		fmt.Sprintf("---\napiVersion: %s/v1\nkind: Gadget\nmetadata: {name: g, namespace: %s}\n", group, db))
	if err := os.Mkdir(filepath.Join(chart, "crds"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chart, "crds", "gadgets.yaml"), fmt.Appendf(nil, gadgetsCRD, group), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteCRD(t, "gadgets."+group) })
	clustertest.Helm(t, 4, "install", "spread", chart, "-n", app, "--wait", "--timeout", "60s")
	record := readRecord(t, app, "spread")

	rows := untilRows(t, follow(t, tracker(t, clustertest.Config(t)), record), has("Pod db-* Running"))
	got := []string{}
	for _, row := range rows {
		where := "app"
		if row.Namespace == db {
			where = "db"
		}
		got = append(got, where+": "+text(row))
	}
	slices.Sort(got)
	want := []string{
		"app: Deployment web Ready 1/1", "app: Pod web-* Running", "app: ReplicaSet web-* Ready 1/1",
		"db: Deployment db Ready 1/1", "db: Gadget g Ready", "db: Pod db-* Running", "db: ReplicaSet db-* Ready 1/1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func deleteCRD(t *testing.T, name string) {
	client, err := dynamic.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if err := client.Resource(crds).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestPodsBelongToTheirOwnersWhateverTheirLabels(t *testing.T) {
	ns := clustertest.Namespace(t)
	for _, name := range []string{"one", "two"} {
		clustertest.Helm(t, 4, "install", name, chartOf(t, deploymentIn("", name, "web:1")), "-n", ns, "--wait", "--timeout", "60s")
	}
	tracker := tracker(t, clustertest.Config(t))
	for _, name := range []string{"one", "two"} {
		rows, err := tracker.Snapshot(t.Context(), readRecord(t, ns, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"Deployment " + name + " Ready 1/1", "ReplicaSet " + name + "-* Ready 1/1", "Pod " + name + "-* Running"}
		if diff := cmp.Diff(want, texts(rows)); diff != "" {
			t.Errorf("rows of %s (-want +got):\n%s", name, diff)
		}
		if rows[1].Owner != rows[0].Key() || rows[2].Owner != rows[1].Key() {
			t.Errorf("owners %q and %q", rows[1].Owner, rows[2].Owner)
		}
	}
}

func TestDeploymentWithoutReplicasIsReady(t *testing.T) {
	ns := clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "-n", ns, "--set", "replicas=0", "--wait", "--timeout", "60s")
	rows, err := tracker(t, clustertest.Config(t)).Snapshot(t.Context(), readRecord(t, ns, "web"), nil)
	if err != nil {
		t.Fatal(err)
	}
	summary := stream.Summarize(rows)
	if !has("Deployment web Ready")(rows) || summary.Ready != 3 || summary.Total != 3 || len(summary.Causes) > 0 {
		t.Errorf("summary %+v of\n%s", summary, strings.Join(texts(rows), "\n"))
	}
}

// A failed rollout can look healthy because the old ReplicaSet keeps the wanted
// number of pods ready (https://github.com/k8sgpt-ai/k8sgpt/pull/1740).
func TestOldPodsDoNotCountAsReady(t *testing.T) {
	ns := clustertest.Namespace(t)
	template := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  progressDeadlineSeconds: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:{{ .Values.tag }}"}]}
`
	chart := chartOf(t, template)
	clustertest.Helm(t, 4, "install", "web", chart, "-n", ns, "--set", "tag=1", "--wait", "--timeout", "60s")
	record := readRecord(t, ns, "web")
	clustertest.Helm(t, 4, "upgrade", "web", chart, "-n", ns, "--set", "tag=doesnotexist")
	rows := follow(t, tracker(t, clustertest.Config(t)), record)

	// In the middle of the rolling update:
	now := untilRows(t, rows, func(rows []health.Resource) bool { return rows[0].Updated == 1 && len(rows) == 7 })
	if now[0].Status != "Progressing" || now[0].Ready != 0 || now[0].Total != 3 || now[0].Current {
		t.Errorf("in the middle the Deployment is %+v", now[0])
	}
	now = untilRows(t, rows, func(rows []health.Resource) bool {
		return rows[0].Reason == "ProgressDeadlineExceeded" && rows[2].Status == "ImagePullBackOff"
	})
	want := []string{
		"Deployment web Failed 0/3 ProgressDeadlineExceeded",
		"ReplicaSet web-* Progressing 0/1 LessAvailable", "Pod web-* ImagePullBackOff ImagePullBackOff",
		"ReplicaSet web-* Ready 3/3 old", "Pod web-* Running old", "Pod web-* Running old", "Pod web-* Running old",
	}
	if diff := cmp.Diff(want, texts(now)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if now[0].Revision != 2 || now[1].Revision != 2 || now[3].Revision != 1 {
		t.Errorf("rollout %d, with the ReplicaSets of %d and %d, want 2, 2 and 1", now[0].Revision, now[1].Revision, now[3].Revision)
	}
	reasons := []string{}
	for _, cause := range stream.Summarize(now).Causes {
		reasons = append(reasons, cause.Reason)
	}
	if diff := cmp.Diff([]string{"ImagePullBackOff", "ProgressDeadlineExceeded"}, reasons); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// Objects with a namespace of their own, or with none, must not be looked up in
// the release's (https://github.com/lensapp/lens/pull/6088).
func TestObjectsAreLookedUpInTheirOwnNamespace(t *testing.T) {
	app, db := clustertest.Namespace(t), clustertest.Namespace(t)
	record := &decoder.Record{SecretNamespace: app, Manifest: deploymentIn("", "web", "web:1") + "---" + deploymentIn(db, "db", "db:1") + `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cluster-admin}
---
apiVersion: example.com/v1
kind: Whatsit
metadata: {name: unknown}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: deleted}}
---

---
# nothing but a comment
`}
	apply(t, deployments, app, deploymentIn(app, "web", "web:1"))
	apply(t, deployments, db, deploymentIn(db, "db", "db:1"))
	grant(t, app, app, `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`)

	rows := untilRows(t, follow(t, tracker(t, as(t, app)), record), func(rows []health.Resource) bool {
		return has("Deployment web Ready 1/1")(rows) && has("ConfigMap kube-root-ca.crt Ready")(rows)
	})
	want := []string{
		"Deployment web Ready 1/1", "ReplicaSet web-* Ready 1/1", "Pod web-* Running",
		"Deployment db Forbidden Forbidden", "ClusterRole cluster-admin Forbidden Forbidden", "Whatsit unknown Unknown UnknownKind",
		"ConfigMap kube-root-ca.crt Ready", "ConfigMap deleted NotFound NotFound",
	}
	if diff := cmp.Diff(want, texts(rows)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if rows[3].Namespace != db || rows[4].Namespace != "" || rows[6].Namespace != app {
		t.Errorf("namespaces %q, %q and %q", rows[3].Namespace, rows[4].Namespace, rows[6].Namespace)
	}
}

func TestForbiddenPodsAreReportedInTheirNamespace(t *testing.T) {
	app, db := clustertest.Namespace(t), clustertest.Namespace(t)
	record := &decoder.Record{SecretNamespace: app, Manifest: deploymentIn("", "web", "web:1") + "---" + deploymentIn(db, "db", "db:doesnotexist")}
	apply(t, deployments, app, deploymentIn(app, "web", "web:1"))
	apply(t, deployments, db, deploymentIn(db, "db", "db:doesnotexist"))
	grant(t, app, app, `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`)
	grant(t, app, db, `{apiGroups: [apps], resources: ["*"], verbs: ["*"]}, {apiGroups: [""], resources: [events], verbs: ["*"]}`)

	limited := tracker(t, as(t, app))
	rows := untilRows(t, follow(t, limited, record), func(rows []health.Resource) bool {
		return has("Deployment web Ready 1/1")(rows) && has("Deployment db Progressing 0/1 LessAvailable")(rows)
	})
	read, err := limited.Snapshot(t.Context(), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range [][]health.Resource{rows, read} {
		want := []string{
			"Deployment web Ready 1/1", "ReplicaSet web-* Ready 1/1", "Pod web-* Running",
			"Deployment db Progressing 0/1 LessAvailable", "ReplicaSet db-* Progressing 0/1 LessAvailable",
		}
		if diff := cmp.Diff(want, texts(now)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if message := now[3].Message; !strings.Contains(message, "what it owns cannot be read: pods is forbidden") {
			t.Errorf("the Deployment says %q", message)
		}
	}
}

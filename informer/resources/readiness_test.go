package resources_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/informer/resources"
	"github.com/helmtrail/helmtrail/stream"
)

const crdOf = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[3]s}
spec:
  group: %[3]s
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// define creates a custom kind for the test, and waits until the API server serves it.
func define(t *testing.T, kind, plural, group string) schema.GroupVersionResource {
	t.Helper()
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	apply(t, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", fmt.Sprintf(crdOf, plural, kind, group))
	t.Cleanup(func() { deleteCRD(t, plural+"."+group) })
	client := dynamicClient(t)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := client.Resource(resource).Namespace("default").List(t.Context(), metav1.ListOptions{}); err == nil {
			return resource
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// create creates an object, written as YAML, and returns its UID.
func create(t *testing.T, resource schema.GroupVersionResource, namespace, text string) types.UID {
	t.Helper()
	object := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(content)
	}
	if err == nil {
		object, err = dynamicClient(t).Resource(resource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return object.GetUID()
}

// rowNamed returns the row of an object that a record names.
func rowNamed(rows []health.Resource, kind, name string) health.Resource {
	at := slices.IndexFunc(rows, func(r health.Resource) bool { return r.Kind == kind && r.Name == name })
	if at < 0 {
		return health.Resource{}
	}
	return rows[at]
}

// onDeleteWorkload returns a workload with two pods, or one on each node.
func onDeleteWorkload(kind, name, image string) string {
	own := map[string]string{"StatefulSet": "replicas: 2, serviceName: x, podManagementPolicy: Parallel, "}[kind]
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: %s, metadata: {name: %s}, spec: {%supdateStrategy: {type: OnDelete}, selector: {matchLabels: {app: %[2]s}}, template: {metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: a, image: %[4]q}]}}}}`,
		kind, name, own, image)
}

// https://github.com/helm/helm/issues/7424: a workload with OnDelete counts as ready
// whatever its pods do, or is never ready after an upgrade.
func TestOnDeleteWorkloadIsReadyWhateverItsPodsDo(t *testing.T) {
	for kind, resource := range map[string]schema.GroupVersionResource{
		"StatefulSet": {Group: "apps", Version: "v1", Resource: "statefulsets"},
		"DaemonSet":   {Group: "apps", Version: "v1", Resource: "daemonsets"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ns := clustertest.Namespace(t)
			manifests := map[string]string{}
			for name, image := range map[string]string{"bad": "a:doesnotexist", "good": "a:1"} {
				manifests[name] = onDeleteWorkload(kind, name, image)
				apply(t, resource, ns, manifests[name])
			}
			record := &decoder.Record{SecretNamespace: ns, Manifest: manifests["bad"] + "\n---\n" + manifests["good"]}
			rows := follow(t, tracker(t, clustertest.Config(t)), record)
			now := untilRows(t, rows, func(rows []health.Resource) bool {
				return rowNamed(rows, kind, "good").Current && len(stream.Summarize(rows).Causes) == 1
			})
			bad := rowNamed(now, kind, "bad")
			if bad.Current || bad.State != health.StateProgressing || bad.Ready != 0 || bad.Helm.Helm3 != health.HelmReady {
				t.Errorf("the workload whose pods cannot start: %+v", bad)
			}
			if causes := stream.Summarize(now).Causes; causes[0].Problem != health.ProblemImageNotPulled {
				t.Errorf("causes %+v", causes)
			}

			patch := []byte(`{"spec":{"template":{"metadata":{"labels":{"v":"2"}}}}}`)
			if _, err := dynamicClient(t).Resource(resource).Namespace(ns).Patch(t.Context(), "good", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			now = untilRows(t, rows, func(rows []health.Resource) bool { return rowNamed(rows, kind, "good").Reason == health.ReasonOnDelete })
			good := rowNamed(now, kind, "good")
			if !good.Current || good.Ready != good.Total || good.Total == 0 || !strings.Contains(good.Message, "an old pod changes only when it is deleted") {
				t.Errorf("the workload with old pods: %+v", good)
			}
			if kind == "DaemonSet" && good.Helm.Helm4 != health.HelmWaits {
				t.Errorf("Helm 4 waits for ever, but the row says %+v", good.Helm)
			}
		})
	}
}

// https://github.com/openshift/console/pull/8463: kinds that kstatus does not know
// are ready whatever their status says.
func TestKindsThatKstatusDoesNotKnowAreReadyWhateverTheirStatusSays(t *testing.T) {
	ns := clustertest.Namespace(t)
	configs := define(t, "DeploymentConfig", "deploymentconfigs", "apps.openshift.io")
	routes := define(t, "Route", "routes", "route.openshift.io")
	const config = `{apiVersion: apps.openshift.io/v1, kind: DeploymentConfig, metadata: {name: web}, spec: {replicas: 1}, status: {latestVersion: 1, observedGeneration: 1,
		replicas: 1, updatedReplicas: 1, readyReplicas: 0, conditions: [{type: Available, status: "False"}, {type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: it has timed out progressing}]}}`
	const route = `{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: web}, status: {ingress: [{conditions: [{type: Admitted, status: "False", reason: HostAlreadyClaimed, message: another route has the host}]}]}}`
	uid := create(t, configs, ns, config)
	create(t, routes, ns, route)
	create(t, schema.GroupVersionResource{Version: "v1", Resource: "replicationcontrollers"}, ns, fmt.Sprintf(`
apiVersion: v1
kind: ReplicationController
metadata: {name: web-1, annotations: {openshift.io/deployment-config.latest-version: "1"}, ownerReferences: [{apiVersion: apps.openshift.io/v1, kind: DeploymentConfig, name: web, uid: %s, controller: true}]}
spec: {replicas: 1, selector: {app: web}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:doesnotexist"}]}}}
`, uid))
	record := &decoder.Record{SecretNamespace: ns, Manifest: config + "\n---\n" + route}
	tracker := tracker(t, clustertest.Config(t))
	untilRows(t, follow(t, tracker, record), has("Pod web-* ImagePullBackOff ImagePullBackOff"))

	rows, err := tracker.Snapshot(t.Context(), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"DeploymentConfig web Failed 0/1 ProgressDeadlineExceeded", "ReplicationController web-1 Progressing 0/1 LessAvailable",
		"Pod web-* ImagePullBackOff ImagePullBackOff", "Route web Failed HostAlreadyClaimed",
	}
	if got := texts(rows); !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	summary := stream.Summarize(rows)
	var said []string
	for _, cause := range summary.Causes {
		said = append(said, string(cause.Problem))
	}
	if !slices.Equal(said, []string{"imageNotPulled", "noProgress", "failed"}) || summary.Ready != 0 || summary.Total != 2 {
		t.Errorf("summary %+v", summary)
	}
	if row := rowNamed(rows, "Route", "web"); row.Helm.Helm4 != health.HelmReady || row.State != health.StateFailed {
		t.Errorf("Helm does not wait for a Route, but the row is %+v", row)
	}
}

// https://github.com/argoproj/argo-rollouts/issues/4672: a field of the status of
// another type than expected makes a healthy object unknown, and Helm 4 waits until
// its timeout.
func TestAStringInPlaceOfANumberMakesAHealthyObjectUnknown(t *testing.T) {
	ns := clustertest.Namespace(t)
	group := ns + ".example.com"
	define(t, "Gadget", "gadgets", group)
	chart := chartOf(t, fmt.Sprintf(`{apiVersion: %s/v1, kind: Gadget, metadata: {name: g}, status: {observedGeneration: "1", phase: Healthy, conditions: [{type: Available, status: "True"}]}}`, group))
	if out, err := clustertest.TryHelm(t, 4, "install", "g", chart, "-n", ns, "--wait", "--timeout", "5s"); err == nil {
		t.Errorf("Helm 4 can judge the object: %s", out)
	}
	rows, err := tracker(t, clustertest.Config(t)).Snapshot(t.Context(), readRecord(t, ns, "g"), nil)
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	if row.Status != "Ready" || row.State != health.StateReady || !row.Current || row.Reason != "" {
		t.Errorf("the row is %+v", row)
	}
	if want := (health.HelmWait{Helm3: health.HelmReady, Helm4: health.HelmCannotJudge}); row.Helm != want {
		t.Errorf("the row says of Helm %+v, want %+v", row.Helm, want)
	}
	causes := stream.Summarize(rows).Causes
	if len(causes) != 1 || !strings.HasPrefix(causes[0].Text, "helm --wait cannot succeed on Gadget g, because ") || !strings.Contains(causes[0].Detail, "observedGeneration") {
		t.Errorf("causes %+v", causes)
	}
}

// An object that is usable and complains is a warning. One that says nothing is a
// warning if its pods have a problem.
func TestProblemsOfAReadyObjectAreDropped(t *testing.T) {
	ns := clustertest.Namespace(t)
	group := ns + ".example.com"
	gadgets := define(t, "Gadget", "gadgets", group)
	complains := fmt.Sprintf(`{apiVersion: %s/v1, kind: Gadget, metadata: {name: complains}, status: {conditions: [{type: Ready, status: "True"}, {type: Degraded, status: "True", reason: Slow, message: the disk is slow}]}}`, group)
	silent := fmt.Sprintf(`{apiVersion: %s/v1, kind: Gadget, metadata: {name: silent}}`, group)
	create(t, gadgets, ns, complains)
	uid := create(t, gadgets, ns, silent)
	create(t, pods, ns, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: silent-1, ownerReferences: [{apiVersion: %s/v1, kind: Gadget, name: silent, uid: %s}]}, spec: {containers: [{name: a, image: "a:doesnotexist"}]}}`, group, uid))
	rows := untilRows(t, follow(t, tracker(t, clustertest.Config(t)), &decoder.Record{SecretNamespace: ns, Manifest: complains + "\n---\n" + silent}), has("Pod silent-* ImagePullBackOff ImagePullBackOff"))
	for _, name := range []string{"complains", "silent"} {
		if row := rowNamed(rows, "Gadget", name); row.State != health.StateWarning || row.Status != "Warning" || !row.Current {
			t.Errorf("%s is %+v", name, row)
		}
	}
	summary := stream.Summarize(rows)
	if summary.Ready != 2 || summary.Warnings != 2 || len(summary.Causes) != 2 || summary.Causes[1].Text != "Gadget complains is usable but reports a problem (Slow): the disk is slow" {
		t.Errorf("summary %+v", summary)
	}
}

// https://github.com/helm/helm/issues/11347: a Job that its TTL removed after its
// success counts as missing.
func TestAJobThatItsTTLRemovedCountsAsMissing(t *testing.T) {
	ns := clustertest.Namespace(t)
	chart := chartOf(t, `
{apiVersion: batch/v1, kind: Job, metadata: {name: good}, spec: {ttlSecondsAfterFinished: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: bad}, spec: {ttlSecondsAfterFinished: 2, backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:fail"}]}}}}
`)
	wait := pendingRecord(t, ns, "jobs")
	ended := make(chan error, 1)
	go func() {
		_, err := clustertest.TryHelm(t, 4, "install", "jobs", chart, "-n", ns)
		ended <- err
	}()
	seen := tracker(t, clustertest.Config(t))
	rows := follow(t, seen, wait())
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	untilRows(t, rows, func(rows []health.Resource) bool {
		return rowNamed(rows, "Job", "good").Reason == health.ReasonRemovedByTTL && rowNamed(rows, "Job", "bad").Reason == health.ReasonRemovedByTTL
	})
	record := readRecord(t, ns, "jobs")
	for name, tracker := range map[string]*resources.Tracker{"a tracker that has seen it": seen, "one that has not": tracker(t, clustertest.Config(t))} {
		now, err := tracker.Snapshot(t.Context(), record, nil)
		if err != nil {
			t.Fatal(err)
		}
		good, bad := rowNamed(now, "Job", "good"), rowNamed(now, "Job", "bad")
		if tracker == seen {
			if good.State != health.StateReady || good.Status != "Completed" || good.Exists() || bad.State != health.StateFailed || !strings.Contains(bad.Message, "BackoffLimitExceeded") {
				t.Errorf("%s: rows %+v and %+v", name, good, bad)
			}
			if end := tracker.EndOf(ns, "good", time.Now()); end != resources.EndUnknown {
				t.Errorf("the end of an earlier run counts: %s", end)
			}
			continue
		}
		if good.State != health.StateUnknown || good.Reason != health.ReasonOutcomeUnknown || good.Current || good.Message == "" || bad.State != health.StateUnknown {
			t.Errorf("%s: rows %+v and %+v", name, good, bad)
		}
	}
}

package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	events      = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	sets        = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  %s
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {%s}
    spec:
      %s
`

// Fault keeps an install from becoming ready. Cause is the cause that must be reported.
type Fault struct {
	Name string
	// Prepare prepares the namespace; it may be nil.
	Prepare func(testing.TB, string)
	// Objects is the YAML of the chart's only template.
	Objects string
	// Kind and Says describe where Kubernetes reports the fault first: the
	// resource, and a regular expression for its JSON.
	Kind schema.GroupVersionResource
	Says string
	// Cause is the first cause that must be reported.
	Cause FaultCause
}

// FaultCause is the cause that must be reported. Object and Text are regular
// expressions that match the whole value.
type FaultCause struct {
	Kind, Object, Container, Reason, Text string
	Final                                 bool
	// Count is how many objects have the cause in the end; 0 means one.
	Count int
}

// Faults are the most common reasons why an install does not become ready.
var Faults = []Fault{
	{
		Name: "an image that does not exist", Objects: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:doesnotexist"}]`),
		Kind: pods, Says: `"ErrImagePull"`,
		Cause: FaultCause{
			Kind: "Pod", Object: `web-\w+-\w+`, Container: "web", Reason: "ImagePullBackOff", Final: true, Count: 2,
			Text: `Container web of Pod web-\w+-\w+ cannot pull its image web:doesnotexist: rpc error: code = NotFound .*not found`,
		},
	},
	{
		Name: "a container that crashes", Objects: fmt.Sprintf(deployment, "", "", `containers: [{name: good, image: "web:1"}, {name: bad, image: "web:crash"}]`),
		Kind: pods, Says: `"CrashLoopBackOff"`,
		Cause: FaultCause{
			Kind: "Pod", Object: `web-\w+-\w+`, Container: "bad", Reason: "CrashLoopBackOff", Count: 2,
			Text: `Container bad of Pod web-\w+-\w+ keeps crashing: it ended with exit code 1 \(Error\)`,
		},
	},
	{
		Name: "a Pod that no node can take", Objects: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:1", resources: {requests: {cpu: "640"}}}]`),
		Kind: pods, Says: `"Unschedulable"`,
		Cause: FaultCause{
			Kind: "Pod", Object: `web-\w+-\w+`, Reason: "Unschedulable", Count: 2,
			Text: `Pod web-\w+-\w+ cannot be scheduled: 0/\d+ nodes are available: .*Insufficient cpu.*`,
		},
	},
	{
		Name: "an exceeded quota", Prepare: forbidPods, Objects: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:1"}]`),
		Kind: sets, Says: `"ReplicaFailure"`,
		Cause: FaultCause{
			Kind: "ReplicaSet", Object: `web-\w+`, Reason: "FailedCreate",
			Text: `ReplicaSet web-\w+ cannot create its pods: pods "web-\S+" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`,
		},
	},
	{
		Name: "a missing service account", Objects: fmt.Sprintf(deployment, "", "", `{serviceAccountName: nobody, containers: [{name: web, image: "web:1"}]}`),
		Kind: sets, Says: `"ReplicaFailure"`,
		Cause: FaultCause{
			Kind: "ReplicaSet", Object: `web-\w+`, Reason: "FailedCreate",
			Text: `ReplicaSet web-\w+ cannot create its pods: .*serviceaccount "nobody" not found`,
		},
	},
	{
		Name: "an init container that cannot pull",
		Objects: fmt.Sprintf(deployment, "", "",
			`{initContainers: [{name: side, image: "proxy:1", restartPolicy: Always}, {name: setup, image: "setup:doesnotexist"}], containers: [{name: web, image: "web:1"}]}`),
		Kind: pods, Says: `"ErrImagePull"`,
		Cause: FaultCause{
			Kind: "Pod", Object: `web-\w+-\w+`, Container: "setup", Reason: "ImagePullBackOff", Final: true, Count: 2,
			Text: `Init container setup of Pod web-\w+-\w+ cannot pull its image setup:doesnotexist: rpc error: .*not found`,
		},
	},
	{
		Name:    "a passed progress deadline",
		Objects: fmt.Sprintf(deployment, "progressDeadlineSeconds: 2", "devcluster.helmtrail.dev/delay: 5m", `containers: [{name: web, image: "web:1"}]`),
		Kind:    deployments, Says: `"ProgressDeadlineExceeded"`,
		Cause: FaultCause{
			Kind: "Deployment", Object: `web`, Reason: "ProgressDeadlineExceeded",
			Text: `Deployment web makes no progress any more: ReplicaSet "web-\w+" has timed out progressing.`,
		},
	},
	{
		Name: "a claim without a storage class", Objects: fmt.Sprintf(deployment, "", "",
			`{volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: web, image: "web:1"}]}`) + `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
		Kind: events, Says: `"FailedBinding"`,
		Cause: FaultCause{
			Kind: "PersistentVolumeClaim", Object: `data`, Reason: "FailedBinding",
			Text: `PersistentVolumeClaim data is not bound: no persistent volumes available for this claim and no storage class is set`,
		},
	},
	{
		Name: "a StatefulSet's claim without a storage class", Objects: `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
		Kind: events, Says: `"FailedBinding"`,
		Cause: FaultCause{
			Kind: "PersistentVolumeClaim", Object: `data-db-0`, Reason: "FailedBinding",
			Text: `PersistentVolumeClaim data-db-0 is not bound: no persistent volumes available for this claim and no storage class is set`,
		},
	},
	{
		Name: "a hook Job that gives up", Objects: `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: sql, image: "sql:fail"}]}}
`,
		Kind: jobs, Says: `"type":"Failed"`,
		Cause: FaultCause{
			Kind: "Job", Object: "migrate", Container: "sql", Reason: "BackoffLimitExceeded", Final: true,
			Text: `Job migrate has failed \(BackoffLimitExceeded\): Job has reached the specified backoff limit. Container sql of Pod migrate-\w+ has failed with exit code 1 \(Error\)`,
		},
	},
}

func forbidPods(t testing.TB, namespace string) {
	t.Helper()
	quotas := Core(t).ResourceQuotas(namespace)
	_, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(startTimeout)
	for {
		quota, err := quotas.Get(t.Context(), "none", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if quota.Status.Hard != nil {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("the quota was not enforced")
		}
	}
}

// Matches reports whether a cause is the expected one, except for its count.
func (c FaultCause) Matches(kind, name, container, reason, text string, final bool) bool {
	full := func(pattern, text string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text) }
	return c.Kind == kind && full(c.Object, name) && c.Container == container && c.Reason == reason && full(c.Text, text) && c.Final == final
}

// ChartOf writes a chart with one template into a folder and returns its path.
func ChartOf(t testing.TB, folder, name, template string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	for file, content := range map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n",
		"templates/objects.yaml": template,
	} {
		file = filepath.Join(path, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// Knowledge records when Kubernetes itself first reported something.
type Knowledge struct {
	says *regexp.Regexp
	said chan struct{} // closed when at is set
	at   time.Time
}

// At waits until Kubernetes reports it, and returns that time. It fails the test if
// Kubernetes never does.
func (k *Knowledge) At(t testing.TB) time.Time {
	t.Helper()
	select {
	case <-k.said:
	case <-time.After(startTimeout):
		t.Fatalf("Kubernetes did not report %s", k.says)
	}
	return k.at
}

// Listen watches a kind in a namespace, without an informer, until the first
// object matches or the test ends.
func Listen(t testing.TB, kind schema.GroupVersionResource, namespace string, says *regexp.Regexp) *Knowledge {
	t.Helper()
	client, err := dynamic.NewForConfig(Config(t))
	if err != nil {
		t.Fatal(err)
	}
	watch, err := client.Resource(kind).Namespace(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := &Knowledge{says: says, said: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watch.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			text, err := object.MarshalJSON()
			if err != nil || !says.Match(text) {
				continue
			}
			if k.at.IsZero() {
				k.at = time.Now()
				close(k.said)
			}
		}
	}()
	t.Cleanup(func() { watch.Stop(); <-ended })
	return k
}

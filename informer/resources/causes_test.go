package resources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// chartOf writes a chart with one template and returns its folder.
func chartOf(t testing.TB, template string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "chart")
	if err := os.MkdirAll(filepath.Join(folder, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n", "templates/objects.yaml": template,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// pendingRecord waits for the record that helm writes before it does anything
// else, and returns it.
func pendingRecord(t *testing.T, namespace, name string) (wait func() *decoder.Record) {
	t.Helper()
	clusters, err := informer.Open(informer.Options{Kubeconfig: clustertest.Kubeconfig(t)})
	if err != nil {
		t.Fatal(err)
	}
	c := clusters[0]
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	revisions := make(chan int, 10)
	unobserve := c.Observe(namespace, name, func(transition decoder.Transition) {
		select {
		case revisions <- transition.Revision.Number:
		default:
		}
	})
	t.Cleanup(unobserve)
	return func() *decoder.Record {
		t.Helper()
		select {
		case revision := <-revisions:
			record, err := c.Record(t.Context(), namespace, name, revision)
			if err != nil {
				t.Fatal(err)
			}
			return record
		case <-time.After(patience):
			t.Fatal("helm wrote no record")
			return nil
		}
	}
}

// knowledge is when Kubernetes itself first said something.
type knowledge struct {
	mu sync.Mutex
	at time.Time
}

func (k *knowledge) since(now time.Time) (time.Duration, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.Sub(k.at), !k.at.IsZero()
}

// listen watches a kind in a namespace until the test ends, with nothing but a
// bare watch, for the first object that says it.
func listen(t *testing.T, kind schema.GroupVersionResource, namespace string, says *regexp.Regexp) *knowledge {
	t.Helper()
	client, err := dynamic.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	watch, err := client.Resource(kind).Namespace(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := &knowledge{}
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
			k.mu.Lock()
			if k.at.IsZero() {
				k.at = time.Now()
			}
			k.mu.Unlock()
		}
	}()
	t.Cleanup(func() { watch.Stop(); <-ended })
	return k
}

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

// failure is an install that cannot succeed, and what must be said about it.
type failure struct {
	name   string
	before func(*testing.T, string) // the namespace's preparation
	chart  string
	// kind and says are where Kubernetes says it first.
	kind schema.GroupVersionResource
	says string
	want stream.Cause // Object.Name and Text are regular expressions
}

var failures = []failure{
	{
		name: "an image that does not exist", chart: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:doesnotexist"}]`),
		kind: pods, says: `"ErrImagePull"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Pod", Name: `web-\w+-\w+`}, Container: "web", Reason: "ImagePullBackOff", Final: true, Count: 2,
			Text: `Container web of Pod web-\w+-\w+ cannot pull its image web:doesnotexist: rpc error: code = NotFound .*not found`,
		},
	},
	{
		name: "a container that crashes", chart: fmt.Sprintf(deployment, "", "", `containers: [{name: good, image: "web:1"}, {name: bad, image: "web:crash"}]`),
		kind: pods, says: `"CrashLoopBackOff"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Pod", Name: `web-\w+-\w+`}, Container: "bad", Reason: "CrashLoopBackOff", Count: 2,
			Text: `Container bad of Pod web-\w+-\w+ keeps crashing: it ended with exit code 1 \(Error\)`,
		},
	},
	{
		name: "a Pod that no node can take", chart: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:1", resources: {requests: {cpu: "640"}}}]`),
		kind: pods, says: `"Unschedulable"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Pod", Name: `web-\w+-\w+`}, Reason: "Unschedulable", Count: 2,
			Text: `Pod web-\w+-\w+ cannot be scheduled: 0/\d+ nodes are available: .*Insufficient cpu.*`,
		},
	},
	{
		name: "an exceeded quota", before: forbidPods, chart: fmt.Sprintf(deployment, "", "", `containers: [{name: web, image: "web:1"}]`),
		kind: sets, says: `"ReplicaFailure"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "ReplicaSet", Name: `web-\w+`}, Reason: "FailedCreate",
			Text: `ReplicaSet web-\w+ cannot create its pods: pods "web-\S+" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`,
		},
	},
	{
		name: "a missing service account", chart: fmt.Sprintf(deployment, "", "", `{serviceAccountName: nobody, containers: [{name: web, image: "web:1"}]}`),
		kind: sets, says: `"ReplicaFailure"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "ReplicaSet", Name: `web-\w+`}, Reason: "FailedCreate",
			Text: `ReplicaSet web-\w+ cannot create its pods: .*serviceaccount "nobody" not found`,
		},
	},
	{
		name: "an init container that cannot pull",
		chart: fmt.Sprintf(deployment, "", "",
			`{initContainers: [{name: side, image: "proxy:1", restartPolicy: Always}, {name: setup, image: "setup:doesnotexist"}], containers: [{name: web, image: "web:1"}]}`),
		kind: pods, says: `"ErrImagePull"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Pod", Name: `web-\w+-\w+`}, Container: "setup", Reason: "ImagePullBackOff", Final: true, Count: 2,
			Text: `Init container setup of Pod web-\w+-\w+ cannot pull its image setup:doesnotexist: rpc error: .*not found`,
		},
	},
	{
		name:  "a passed progress deadline",
		chart: fmt.Sprintf(deployment, "progressDeadlineSeconds: 2", "devcluster.helmtrail.dev/delay: 5m", `containers: [{name: web, image: "web:1"}]`),
		kind:  deployments, says: `"ProgressDeadlineExceeded"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Deployment", Name: `web`}, Reason: "ProgressDeadlineExceeded",
			Text: `Deployment web makes no progress any more: ReplicaSet "web-\w+" has timed out progressing.`,
		},
	},
	{
		name: "a claim without a storage class", chart: fmt.Sprintf(deployment, "", "",
			`{volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: web, image: "web:1"}]}`) + `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
		kind: events, says: `"FailedBinding"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "PersistentVolumeClaim", Name: `data`}, Reason: "FailedBinding",
			Text: `PersistentVolumeClaim data is not bound: no persistent volumes available for this claim and no storage class is set`,
		},
	},
	{
		name: "a StatefulSet's claim without a storage class", chart: `
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
		kind: events, says: `"FailedBinding"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "PersistentVolumeClaim", Name: `data-db-0`}, Reason: "FailedBinding",
			Text: `PersistentVolumeClaim data-db-0 is not bound: no persistent volumes available for this claim and no storage class is set`,
		},
	},
	{
		name: "a hook Job that gives up", chart: `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: sql, image: "sql:fail"}]}}
`,
		kind: jobs, says: `"type":"Failed"`,
		want: stream.Cause{
			Object: stream.ObjectRef{Kind: "Job", Name: "migrate"}, Container: "sql", Reason: "BackoffLimitExceeded", Final: true,
			Text: `Job migrate has failed \(BackoffLimitExceeded\): Job has reached the specified backoff limit. Container sql of Pod migrate-\w+ has failed with exit code 1 \(Error\)`,
		},
	},
}

func forbidPods(t *testing.T, namespace string) {
	quotas := clustertest.Core(t).ResourceQuotas(namespace)
	_, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(patience)
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
			t.Fatal("the quota does not come into force")
		}
	}
}

// matches compares a cause with one that holds regular expressions.
func matches(want, got stream.Cause) bool {
	full := func(pattern, text string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text) }
	return want.Object.Kind == got.Object.Kind && full(want.Object.Name, got.Object.Name) && want.Container == got.Container &&
		want.Reason == got.Reason && full(want.Text, got.Text) && want.Final == got.Final && want.Count == got.Count
}

// TestFirstCauseIsToldWithinTwoSeconds installs what cannot become ready, with
// a helm that waits for it. The Helms take turns: what the cluster says does not
// depend on who waits.
func TestFirstCauseIsToldWithinTwoSeconds(t *testing.T) {
	for i, f := range failures {
		version := clustertest.Versions[i%len(clustertest.Versions)]
		t.Run(fmt.Sprintf("%s, helm %d", f.name, version), func(t *testing.T) {
			t.Parallel()
			testFailure(t, version, f)
		})
	}
}

func testFailure(t *testing.T, version int, f failure) {
	namespace := clustertest.Namespace(t)
	if f.before != nil {
		f.before(t, namespace)
	}
	tracker := tracker(t, clustertest.Config(t))
	record := pendingRecord(t, namespace, "bad")
	known := listen(t, f.kind, namespace, regexp.MustCompile(f.says))
	helm := make(chan string, 1)
	chart := chartOf(t, f.chart)
	go func() {
		output, err := clustertest.TryHelm(t, version, "install", "bad", chart, "-n", namespace, "--wait", "--timeout", "8s")
		if err == nil {
			output = ""
		}
		helm <- output
	}()
	followed := record()
	rows := follow(t, tracker, followed)

	var now, told stream.Summary
	delay, output, deadline := time.Duration(-1), "", time.After(patience)
	for output == "" || delay < 0 {
		select {
		case r := <-rows:
			now = stream.Summarize(r)
			if delay < 0 && len(now.Causes) > 0 && matches(withoutCount(f.want), withoutCount(now.Causes[0])) {
				since, ok := known.since(time.Now())
				if !ok {
					since = 0 // told before the bare watch was
				}
				delay, told = since, now
			}
		case output = <-helm:
			if output == "" {
				t.Fatal("helm succeeded")
			}
		case <-deadline:
			t.Fatalf("the cause did not come, only %+v", now.Causes)
		}
	}
	t.Logf("told after %v: %s", delay.Round(time.Millisecond), told.Causes[0].Text)
	if delay > 2*time.Second {
		t.Errorf("the cause was told %v after Kubernetes knew it", delay)
	}
	read, err := tracker.Snapshot(t.Context(), followed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if causes := stream.Summarize(read).Causes; len(causes) == 0 || !matches(f.want, causes[0]) {
		t.Errorf("the first cause at the end is not %+v but of\n%+v\nof the rows\n%s", f.want, causes, strings.Join(texts(read), "\n"))
	}
}

// withoutCount leaves out how many objects a cause concerns, which grows.
func withoutCount(c stream.Cause) stream.Cause {
	c.Count = 0
	return c
}

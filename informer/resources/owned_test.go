package resources_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// A CronJob is ready whatever happens to its Jobs, because Helm does not wait for
// them. The Jobs and their state are shown nevertheless.
func TestACronJobOwnsJobsThatOwnPods(t *testing.T) {
	ns := clustertest.Namespace(t)
	const cronJob = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: report}, spec: {schedule: "0 0 1 1 *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}}}`
	batch := schema.GroupVersion{Group: "batch", Version: "v1"}
	apply(t, batch.WithResource("cronjobs"), ns, cronJob)
	client, err := v1.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	owner, err := client.CronJobs(ns).Get(t.Context(), "report", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, batch.WithResource("jobs"), ns, fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: report-1, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: report, uid: %s, controller: true}]}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:fail"}]}}}
`, owner.UID))

	rows := untilRows(t, follow(t, tracker(t, clustertest.Config(t)), &decoder.Record{SecretNamespace: ns, Manifest: cronJob}), has("Job report-1 Failed 0/1 BackoffLimitExceeded"))
	want := []string{"CronJob report Ready", "Job report-1 Failed 0/1 BackoffLimitExceeded", "Pod report-* Error Error"}
	if diff := cmp.Diff(want, texts(rows)); diff != "" {
		t.Fatalf("rows (-want +got):\n%s", diff)
	}
	if rows[1].Owner != rows[0].Key() || rows[2].Owner != rows[1].Key() {
		t.Errorf("owners %q and %q", rows[1].Owner, rows[2].Owner)
	}
	if summary := stream.Summarize(rows); summary.Ready != 1 || summary.Total != 1 || len(summary.Causes) > 0 {
		t.Errorf("summary %+v", summary)
	}
}

func TestADaemonSetOwnsPods(t *testing.T) {
	ns := clustertest.Namespace(t)
	const set = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: "a:doesnotexist"}]}}}}`
	apply(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}, ns, set)
	rows := untilRows(t, follow(t, tracker(t, clustertest.Config(t)), &decoder.Record{SecretNamespace: ns, Manifest: set}), has("Pod agent-* ImagePullBackOff ImagePullBackOff"))
	if len(rows) != 2 || rows[0].Status != "Progressing" || rows[0].Ready != 0 || rows[0].Total != 1 || rows[1].Owner != rows[0].Key() {
		t.Errorf("rows %+v", rows)
	}
	if causes := stream.Summarize(rows).Causes; len(causes) != 1 || causes[0].Problem != health.ProblemImageNotPulled || !causes[0].Final {
		t.Errorf("causes %+v", causes)
	}
}

// Helm 3 waits for a load balancer, kstatus does not. A missing load balancer is
// not a problem while Helm may still succeed, and is the cause after Helm gave up.
func TestAServiceWaitsForItsLoadBalancer(t *testing.T) {
	ns := clustertest.Namespace(t)
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	manifest := ""
	for name, more := range map[string]string{"waiting": "", "given": ", externalIPs: [192.0.2.1]"} {
		manifest += fmt.Sprintf("---\n{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: LoadBalancer, ports: [{port: 80}]%s}}\n", name, more)
		apply(t, services, ns, fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: LoadBalancer, ports: [{port: 80}]%s}}", name, more))
	}
	rows, err := tracker(t, clustertest.Config(t)).Snapshot(t.Context(), &decoder.Record{SecretNamespace: ns, Manifest: manifest}, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, row := range rows {
		said[row.Name] = row.Cause.Text
	}
	want := map[string]string{"given": "", "waiting": "Service waiting has been given no address by a load balancer yet"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if summary := stream.Summarize(rows); summary.Ready != 2 || len(summary.Causes) > 0 {
		t.Errorf("summary %+v", summary)
	}
	if slices.ContainsFunc(rows, func(r health.Resource) bool { return !r.Current || r.Status != "Ready" }) {
		t.Errorf("the Services are not ready although kstatus says so: %+v", rows)
	}
}

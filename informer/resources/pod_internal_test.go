package resources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
)

// placesOnly is a lister that holds only the contents of places.
type placesOnly struct {
	lister
	places map[place]cache.Indexer
}

func (p placesOnly) indexer(where place) (cache.Indexer, error) {
	if objects := p.places[where]; objects != nil {
		return objects, nil
	}
	return nil, errNotYet
}

// podFrom makes a Pod with the containers web and log. The YAML gives its status
// and may override anything else.
func podFrom(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}, {Name: "log", Image: "log:1"}}},
	}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	return stripPod(pod)
}

// rowOfPod returns the row of a ReplicaSet's pod.
func (v *view) rowOfPod(pod *corev1.Pod) health.Resource {
	return v.podRow(pod, podKind.dependentRow(pod, "apps/ReplicaSet/ns/set"), replicaSetKind.pods)
}

// A Pod's phase says Pending or Running while its containers are in trouble
// (https://github.com/kubernetes/kubernetes/issues/66828).
func TestPodRowShowsContainerProblemsThatThePhaseHides(t *testing.T) {
	const inits = "spec: {initContainers: [{name: one, image: 'one:1'}, {name: side, image: 'side:1', restartPolicy: Always}, {name: two, image: 'two:1'}]}\n"
	tests := []struct {
		name, pod string
		event     *corev1.Event
		want      string // status, reason, container, message
		cause     string // "" if there is no cause to report yet
		final     bool
	}{
		{
			name: "running",
			pod: `status: {phase: Running, conditions: [{type: Ready, status: "True"}],
				containerStatuses: [{name: web, ready: true, state: {running: {}}}, {name: log, ready: true, state: {running: {}}}]}`,
			want: "Running|||",
		},
		{
			name:  "really pending: no node has room",
			pod:   `status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available: 3 Insufficient memory."}]}`,
			want:  "Pending|Unschedulable||0/3 nodes are available: 3 Insufficient memory.",
			cause: "Pod p cannot be scheduled: 0/3 nodes are available: 3 Insufficient memory.",
		},
		{
			name: "being created",
			pod:  `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ContainerCreating}}}]}`,
			want: "ContainerCreating|ContainerCreating||",
		},
		{
			name:  "an image that the registry refuses",
			pod:   `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "web:1": ErrImagePull: rpc error: code = Unknown desc = 401 Unauthorized'}}}]}`,
			want:  `ImagePullBackOff|ImagePullBackOff|web|Back-off pulling image "web:1": ErrImagePull: rpc error: code = Unknown desc = 401 Unauthorized`,
			cause: "Container web of Pod p cannot pull its image web:1: rpc error: code = Unknown desc = 401 Unauthorized",
		},
		{
			name:  "an invalid image name",
			pod:   `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: InvalidImageName, message: 'Failed to apply default image tag "web:1:2"'}}}]}`,
			want:  `InvalidImageName|InvalidImageName|web|Failed to apply default image tag "web:1:2"`,
			cause: `Container web of Pod p cannot use its image web:1 (InvalidImageName): Failed to apply default image tag "web:1:2"`,
			final: true,
		},
		{
			name: "killed for its memory, will be restarted",
			pod: `status: {phase: Running, containerStatuses: [
				{name: web, ready: true, state: {running: {}}},
				{name: log, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off 1m20s}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}`,
			want:  "CrashLoopBackOff|CrashLoopBackOff|log|last ended with exit code 137 (OOMKilled); back-off 1m20s",
			cause: "Container log of Pod p keeps crashing: it ended with exit code 137 (OOMKilled)",
		},
		{
			name: "started again after a crash",
			pod: `status: {phase: Running, containerStatuses: [
				{name: web, ready: true, state: {running: {}}},
				{name: log, restartCount: 4, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}`,
			want:  "Running|CrashLoopBackOff|log|last ended with exit code 137 (OOMKilled)",
			cause: "Container log of Pod p keeps crashing: it ended with exit code 137 (OOMKilled)",
		},
		{
			name: "exits without an error repeatedly",
			pod: `status: {phase: Running, containerStatuses: [
				{name: web, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off 1m20s}}, lastState: {terminated: {exitCode: 0, reason: Completed}}}]}`,
			want:  "CrashLoopBackOff|CrashLoopBackOff|web|last ended with exit code 0 (Completed); back-off 1m20s",
			cause: "Container web of Pod p keeps ending: it ended with exit code 0 (Completed)",
		},
		{
			name:  "a registry that does not answer",
			pod:   `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "web:1": RegistryUnavailable: image pull failed for web:1 because the registry is unavailable: dial tcp: timeout'}}}]}`,
			want:  `ImagePullBackOff|ImagePullBackOff|web|Back-off pulling image "web:1": RegistryUnavailable: image pull failed for web:1 because the registry is unavailable: dial tcp: timeout`,
			cause: "Container web of Pod p cannot pull its image web:1: image pull failed for web:1 because the registry is unavailable: dial tcp: timeout",
		},
		{
			name:  "a Secret that is missing",
			pod:   `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: CreateContainerConfigError, message: 'secret "db" not found'}}}]}`,
			want:  `CreateContainerConfigError|CreateContainerConfigError|web|secret "db" not found`,
			cause: `Container web of Pod p cannot be started (CreateContainerConfigError): secret "db" not found`,
		},
		{
			name: "evicted",
			pod: `status: {phase: Failed, reason: Evicted, message: "The node was low on resource: memory.",
				containerStatuses: [{name: web, state: {terminated: {exitCode: 137, reason: Error}}}]}`,
			want:  "Error|Evicted||The node was low on resource: memory.",
			cause: "Pod p has failed (Evicted): The node was low on resource: memory.",
		},
		{
			name: "terminating",
			pod: `{metadata: {deletionTimestamp: "2026-11-01T10:00:00Z"}, status: {phase: Running, conditions: [{type: Ready, status: "True"}],
				containerStatuses: [{name: web, ready: true, state: {running: {}}}]}}`,
			want: "Terminating|||",
		},
		{
			name: "a failed init container behind a sidecar",
			pod: inits + `status: {phase: Pending, initContainerStatuses: [
				{name: one, state: {terminated: {exitCode: 0, reason: Completed}}},
				{name: side, started: true, ready: true, state: {running: {}}},
				{name: two, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 2, reason: Error, message: "no such table\n"}}}]}`,
			want:  "Init:CrashLoopBackOff|CrashLoopBackOff|two|last ended with exit code 2 (Error): no such table",
			cause: "Init container two of Pod p keeps crashing: it ended with exit code 2 (Error): no such table",
		},
		{
			name: "a sidecar that cannot be pulled",
			pod: inits + `status: {phase: Pending, initContainerStatuses: [
				{name: one, state: {terminated: {exitCode: 0}}}, {name: side, state: {waiting: {reason: ErrImagePull, message: "manifest unknown"}}}]}`,
			want:  "Init:ErrImagePull|ErrImagePull|side|manifest unknown",
			cause: "Sidecar container side of Pod p cannot pull its image side:1: manifest unknown",
			final: true,
		},
		{
			name: "running its second init container",
			pod:  inits + `status: {phase: Pending, initContainerStatuses: [{name: one, state: {terminated: {exitCode: 0}}}, {name: side, state: {running: {}}}]}`,
			want: "Init:1/3|NotReady||",
		},
		{
			name: "an init container that is waiting",
			pod: inits + `status: {phase: Pending, initContainerStatuses: [{name: one, state: {running: {}}}],
				containerStatuses: [{name: web, state: {waiting: {reason: PodInitializing}}}]}`,
			want: "Init:0/3|PodInitializing|one|",
		},
		{
			name: "a probe that does not succeed",
			pod: `status: {phase: Running, conditions: [{type: Ready, status: "False", message: "containers with unready status: [web]"}],
				containerStatuses: [{name: log, state: {running: {}}}, {name: web, state: {running: {}}}]}`,
			event: &corev1.Event{
				Reason: "Unhealthy", Message: "Readiness probe failed: HTTP probe failed with statuscode: 503",
				InvolvedObject: corev1.ObjectReference{FieldPath: "spec.containers{web}"},
			},
			want:  "Running|Unhealthy|web|Readiness probe failed: HTTP probe failed with statuscode: 503",
			cause: "Container web of Pod p runs but is not ready: Readiness probe failed: HTTP probe failed with statuscode: 503",
		},
		{
			name:  "a volume that is not there",
			pod:   `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ContainerCreating}}}]}`,
			event: &corev1.Event{Reason: "FailedMount", Message: `MountVolume.SetUp failed for volume "tls" : secret "tls" not found`},
			want:  `ContainerCreating|FailedMount||MountVolume.SetUp failed for volume "tls" : secret "tls" not found`,
			cause: `Pod p cannot be started (FailedMount): MountVolume.SetUp failed for volume "tls" : secret "tls" not found`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			where := place{eventsResource, "ns", warnings}
			events := cache.NewIndexer(cache.MetaNamespaceKeyFunc, where.watching().index)
			if test.event != nil {
				test.event.Name, test.event.InvolvedObject.UID = "e", "uid"
				if err := events.Add(test.event); err != nil {
					t.Fatal(err)
				}
			}
			v := newView(&decoder.Record{}, placesOnly{places: map[place]cache.Indexer{where: events}})
			row := v.rowOfPod(podFrom(t, test.pod))
			if got := strings.Join([]string{row.Status, row.Reason, row.Container, row.Message}, "|"); got != test.want {
				t.Errorf("row\n%s, want\n%s", got, test.want)
			}
			got := ""
			for _, cause := range stream.Summarize([]health.Resource{row}).Causes {
				got += cause.Text
			}
			if got != test.cause || row.Cause.Final != test.final {
				t.Errorf("cause %q final %v, want %q final %v", got, row.Cause.Final, test.cause, test.final)
			}
			if english := row.Cause.English(); test.cause != "" && english != test.cause {
				t.Errorf("the cause's parts say %q", english)
			}
		})
	}
}

// The kubelet alternates between two reasons for the same failure. The row must
// not change each time.
func TestPullReasonsAlternateWithoutEnd(t *testing.T) {
	for _, reason := range []string{"ErrImagePull", "RegistryUnavailable", "SignatureValidationFailed"} {
		t.Run(reason, func(t *testing.T) { testAlternation(t, reason) })
	}
}

func testAlternation(t *testing.T, reason string) {
	failing := `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ` + reason + `, message: "rpc error: code = NotFound desc = web:1: not found"}}}]}`
	// Kubelets before 1.32 do not repeat the error while they back off.
	backingOff := `status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "web:1"'}}}]}`
	v := newView(&decoder.Record{}, placesOnly{})
	var reported []health.Resource
	for range 3 {
		for _, text := range []string{failing, backingOff} {
			if row := v.rowOfPod(podFrom(t, text)); len(reported) == 0 || reported[len(reported)-1] != row {
				reported = append(reported, row)
			}
		}
	}
	statuses := []string{}
	for _, row := range reported {
		statuses = append(statuses, row.Status)
		if row.Cause.Reason != "ImagePullBackOff" || !row.Cause.Final || !strings.HasSuffix(row.Cause.Text, "rpc error: code = NotFound desc = web:1: not found") {
			t.Errorf("%s has the cause %+v", row.Status, row.Cause)
		}
	}
	if diff := cmp.Diff([]string{reason, "ImagePullBackOff"}, statuses); diff != "" {
		t.Errorf("reported rows (-want +got):\n%s", diff)
	}

	other := v.rowOfPod(podFrom(t, `status: {phase: Running, containerStatuses: [{name: web, ready: true, state: {running: {}}}, {name: log, ready: true, state: {running: {}}}]}`))
	if other.Status != "Running" || other.Cause.Reason == "ImagePullBackOff" {
		t.Errorf("after the pull has succeeded the row is %+v", other)
	}
}

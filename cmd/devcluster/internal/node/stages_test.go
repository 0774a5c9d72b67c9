package node

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// moment is the visible result of a step.
type moment struct {
	Step     string
	After    time.Duration
	Phase    corev1.PodPhase
	Ready    bool
	Reasons  []string
	Restarts int32
}

// TestPodStages plays whole sequences of steps. It also checks that each state has at
// most one step: KWOK would choose one at random.
func TestPodStages(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name        string
		images      []string
		inits       []string
		annotations map[string]string
		restart     corev1.RestartPolicy
		steps       int
		want        []moment
	}{
		{
			name:   "a good image is ready at once",
			images: []string{"registry.example:5000/web:1.2"},
			want:   []moment{{Step: "ready", Phase: "Running", Ready: true, Reasons: []string{""}}},
		},
		{
			name:   "an image without a tag is a good one",
			images: []string{"registry.example:5000/crash"},
			want:   []moment{{Step: "ready", Phase: "Running", Ready: true, Reasons: []string{""}}},
		},
		{
			name:   "a tag before a digest is used",
			images: []string{"web:slow@sha256:0123"},
			want: []moment{
				{Step: "create", Phase: "Pending", Reasons: []string{"ContainerCreating"}},
				{Step: "ready-slowly", After: 5 * time.Second, Phase: "Running", Ready: true, Reasons: []string{""}},
			},
		},
		{
			name:        "a delay makes a pod slow",
			images:      []string{"web:1"},
			annotations: map[string]string{DelayAnnotation: "1m30s"},
			want: []moment{
				{Step: "create", Phase: "Pending", Reasons: []string{"ContainerCreating"}},
				{Step: "ready-slowly", After: 90 * time.Second, Phase: "Running", Ready: true, Reasons: []string{""}},
			},
		},
		{
			name:   "one missing image holds up the pod, not its other container",
			images: []string{"web:1", "proxy:doesnotexist"},
			want: []moment{
				{Step: "pull", After: 300 * ms, Phase: "Pending", Reasons: []string{"", "ErrImagePull"}},
				{Step: "back-off-pull", After: 1500 * ms, Phase: "Pending", Reasons: []string{"", "ImagePullBackOff"}},
			},
		},
		{
			name:   "a crash backs off longer each time and is never ready",
			images: []string{"web:crash"},
			steps:  8,
			want: []moment{
				{Step: "start-in-vain", Phase: "Running", Reasons: []string{""}},
				{Step: "crash", After: time.Second, Phase: "Running", Reasons: []string{"CrashLoopBackOff"}, Restarts: 1},
				{Step: "restart", After: 10 * time.Second, Phase: "Running", Reasons: []string{""}, Restarts: 2},
				{Step: "crash", After: time.Second, Phase: "Running", Reasons: []string{"CrashLoopBackOff"}, Restarts: 2},
				{Step: "restart", After: 20 * time.Second, Phase: "Running", Reasons: []string{""}, Restarts: 3},
				{Step: "crash", After: time.Second, Phase: "Running", Reasons: []string{"CrashLoopBackOff"}, Restarts: 3},
				{Step: "restart", After: 40 * time.Second, Phase: "Running", Reasons: []string{""}, Restarts: 4},
				{Step: "crash", After: time.Second, Phase: "Running", Reasons: []string{"CrashLoopBackOff"}, Restarts: 4},
			},
		},
		{
			name:        "the annotation has priority over the tag",
			images:      []string{"web:crash"},
			annotations: map[string]string{BehaviorAnnotation: "good"},
			want:        []moment{{Step: "ready", Phase: "Running", Ready: true, Reasons: []string{""}}},
		},
		{
			name:    "a job's pod completes",
			images:  []string{"task:1"},
			restart: corev1.RestartPolicyNever,
			want: []moment{
				{Step: "ready", Phase: "Running", Ready: true, Reasons: []string{""}},
				{Step: "complete", After: time.Second, Phase: "Succeeded", Reasons: []string{"Completed"}},
			},
		},
		{
			name:        "a job's pod that may not restart fails",
			images:      []string{"task:1"},
			annotations: map[string]string{BehaviorAnnotation: "fail", DurationAnnotation: "3s"},
			restart:     corev1.RestartPolicyNever,
			want: []moment{
				{Step: "start-in-vain", Phase: "Running", Reasons: []string{""}},
				{Step: "fail", After: 3 * time.Second, Phase: "Failed", Reasons: []string{"Error"}},
			},
		},
		{
			name:    "a job's pod that may restart crashes",
			images:  []string{"task:fail"},
			restart: corev1.RestartPolicyOnFailure,
			steps:   2,
			want: []moment{
				{Step: "start-in-vain", Phase: "Running", Reasons: []string{""}},
				{Step: "crash", After: time.Second, Phase: "Running", Reasons: []string{"CrashLoopBackOff"}, Restarts: 1},
			},
		},
		{
			name:   "an init container that crashes holds up the pod",
			inits:  []string{"migrate:crash"},
			images: []string{"web:1"},
			steps:  2,
			want: []moment{
				{Step: "start-in-vain", Phase: "Pending", Reasons: []string{"", "PodInitializing"}},
				{Step: "crash", After: time.Second, Phase: "Pending", Reasons: []string{"CrashLoopBackOff", "PodInitializing"}, Restarts: 1},
			},
		},
		{
			name:   "an init container without an image holds up the pod",
			inits:  []string{"migrate:doesnotexist"},
			images: []string{"web:1"},
			want: []moment{
				{Step: "pull", After: 300 * ms, Phase: "Pending", Reasons: []string{"ErrImagePull", "PodInitializing"}},
				{Step: "back-off-pull", After: 1500 * ms, Phase: "Pending", Reasons: []string{"ImagePullBackOff", "PodInitializing"}},
			},
		},
		{
			name:   "a good init container completes",
			inits:  []string{"migrate:1"},
			images: []string{"web:1"},
			want:   []moment{{Step: "ready", Phase: "Running", Ready: true, Reasons: []string{"Completed", ""}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := newPod(tt.images, tt.inits, tt.annotations, tt.restart)
			if tt.steps == 0 {
				tt.steps = len(tt.want) + 1 // one more, to check that the sequence ends
			}
			if diff := cmp.Diff(tt.want, play(t, pod, tt.steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeletion checks that a pod that is being deleted takes no other step,
// whatever its state.
func TestDeletion(t *testing.T) {
	for _, tag := range []string{"1", "slow", "crash", "doesnotexist"} {
		pod := newPod([]string{"web:" + tag}, nil, nil, corev1.RestartPolicyAlways)
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		if got := next(t, pod); got == nil || got.Name() != "delete" {
			t.Errorf("tag %s: next step is %v, want delete", tag, got)
		}
	}
}

func TestBackOff(t *testing.T) {
	for restarts, want := range map[int32]time.Duration{
		1: 10 * time.Second, 2: 20 * time.Second, 5: 160 * time.Second, 6: 300 * time.Second, 70: 300 * time.Second,
	} {
		if got := backOff(restarts); got != want {
			t.Errorf("back-off after %d restarts is %v, want %v", restarts, got, want)
		}
	}
}

func newPod(images, inits []string, annotations map[string]string, restart corev1.RestartPolicy) *corev1.Pod {
	if restart == "" {
		restart = corev1.RestartPolicyAlways
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "shop", UID: "u-1", Generation: 1, Annotations: annotations},
		Spec:       corev1.PodSpec{NodeName: Name, RestartPolicy: restart},
		Status: corev1.PodStatus{
			Phase:      corev1.PodPending,
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}},
		},
	}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: string(rune('a' + i)), Image: image})
	}
	for i, image := range inits {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: "init-" + string(rune('a'+i)), Image: image})
	}
	return pod
}

// next returns the step that applies to pod, or nil.
func next(t *testing.T, pod *corev1.Pod) *lifecycle.Stage {
	t.Helper()
	stages, err := lifecycle.NewLifecycle(podStages())
	if err != nil {
		t.Fatal(err)
	}
	possible, err := stages.ListAllPossible(t.Context(), eventOf(pod))
	if err != nil {
		t.Fatal(err)
	}
	switch len(possible) {
	case 0:
		return nil
	case 1:
		return possible[0]
	}
	var names []string
	for _, stage := range possible {
		names = append(names, stage.Name())
	}
	t.Fatalf("several steps apply at once: %v", names)
	return nil
}

func eventOf(pod *corev1.Pod) *lifecycle.Event {
	return &lifecycle.Event{Labels: pod.Labels, Annotations: pod.Annotations, Data: pod}
}

// play applies steps like KWOK, with its own templates and patches.
func play(t *testing.T, pod *corev1.Pod, steps int) (moments []moment) {
	t.Helper()
	given := 0
	functions := gotpl.FuncMap{"PodIPsWith": func(string, bool, string, string, string) []string {
		given++
		return []string{fmt.Sprintf("10.244.0.%d", given)}
	}}
	for name, function := range templateFunctions {
		functions[name] = function
	}
	renderer := gotpl.NewRenderer(functions)
	for range steps {
		stage := next(t, pod)
		if stage == nil {
			break
		}
		delay, _, err := stage.Delay(t.Context(), eventOf(pod), time.Now())
		if err != nil {
			t.Fatalf("delay of %s: %v", stage.Name(), err)
		}
		_, err = stage.DoSteps(0, nil, pod, renderer,
			func(*internalversion.StageEvent) error { return nil },
			func() error { return nil },
			func(patch *lifecycle.Patch) error { pod = patched(t, pod, patch.Data); return nil },
			func(*lifecycle.Apply) error { return nil })
		if err != nil {
			t.Fatalf("step %s: %v", stage.Name(), err)
		}
		if ips := pod.Status.PodIPs; len(ips) != 1 || ips[0].IP != pod.Status.PodIP {
			t.Errorf("after step %s the pod has the addresses %v, want one", stage.Name(), ips)
		}
		moments = append(moments, look(pod, stage.Name(), delay))
	}
	return moments
}

func patched(t *testing.T, pod *corev1.Pod, patch []byte) *corev1.Pod {
	t.Helper()
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var result corev1.Pod
	if err := json.Unmarshal(after, &result); err != nil {
		t.Fatal(err)
	}
	return &result
}

func look(pod *corev1.Pod, step string, delay time.Duration) moment {
	m := moment{Step: step, After: delay, Phase: pod.Status.Phase}
	for _, c := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		reason := ""
		switch {
		case c.State.Waiting != nil:
			reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			reason = c.State.Terminated.Reason
		}
		m.Reasons = append(m.Reasons, reason)
		m.Restarts = max(m.Restarts, c.RestartCount)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			m.Ready = c.Status == corev1.ConditionTrue
		}
	}
	return m
}

package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail/stream"
)

// container is one container of a Pod: what it is to be and how it is.
type container struct {
	spec   corev1.Container
	role   stream.Role
	status *corev1.ContainerStatus // nil before there is one
}

// containersOf returns the containers in the order in which they are started.
func containersOf(pod *corev1.Pod) []container {
	all := make([]container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for _, spec := range pod.Spec.InitContainers {
		c := container{spec: spec, role: stream.RoleInit, status: statusOf(pod.Status.InitContainerStatuses, spec.Name)}
		if spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			c.role = stream.RoleSidecar
		}
		all = append(all, c)
	}
	for _, spec := range pod.Spec.Containers {
		all = append(all, container{spec: spec, role: stream.RoleMain, status: statusOf(pod.Status.ContainerStatuses, spec.Name)})
	}
	return all
}

func statusOf(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

// settled tells whether an init container lets the next one start.
func (c container) settled() bool {
	switch {
	case c.status == nil:
		return false
	case c.role == stream.RoleSidecar:
		return c.status.Started != nil && *c.status.Started
	}
	return c.status.State.Terminated != nil && c.status.State.Terminated.ExitCode == 0
}

// The reasons of containers that wait for nothing but their turn.
const (
	containerCreating = "ContainerCreating"
	podInitializing   = "PodInitializing"
)

// podStatus is the Pod's status as kubectl prints it.
func podStatus(pod *corev1.Pod) string {
	word := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		word = pod.Status.Reason
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		word = c.Reason
	}
	initial, initializing := initWord(pod)
	if initializing {
		word = initial
	}
	if c := condition(pod, corev1.PodInitialized); !initializing || c != nil && c.Status == corev1.ConditionTrue {
		word = mainWord(pod, word)
	}
	if pod.DeletionTimestamp != nil {
		switch {
		case pod.Status.Reason == "NodeLost":
			return statusUnknown
		case pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded:
			return statusTerminating
		}
	}
	return word
}

// initWord says at which init container the Pod is, if at any.
func initWord(pod *corev1.Pod) (word string, initializing bool) {
	for i, c := range containersOf(pod) {
		if c.role == stream.RoleMain {
			return "", false
		}
		if c.status == nil || c.settled() {
			continue
		}
		state := c.status.State
		switch {
		case state.Terminated != nil:
			return "Init:" + exitWord(state.Terminated), true
		case state.Waiting != nil && state.Waiting.Reason != "" && state.Waiting.Reason != podInitializing:
			return "Init:" + state.Waiting.Reason, true
		}
		return fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers)), true
	}
	return "", false
}

// mainWord is what the containers say, the first one having the last word;
// otherwise it is the given one.
func mainWord(pod *corev1.Pod, word string) string {
	running := false
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		status := pod.Status.ContainerStatuses[i]
		switch {
		case status.State.Waiting != nil && status.State.Waiting.Reason != "":
			word = status.State.Waiting.Reason
		case status.State.Terminated != nil:
			word = exitWord(status.State.Terminated)
		case status.Ready && status.State.Running != nil:
			running = true
		}
	}
	if word == statusCompleted && running {
		if podReady(pod) {
			return string(corev1.PodRunning)
		}
		return "NotReady"
	}
	return word
}

func exitWord(end *corev1.ContainerStateTerminated) string {
	switch {
	case end.Reason != "":
		return end.Reason
	case end.Signal != 0:
		return fmt.Sprintf("Signal:%d", end.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", end.ExitCode)
}

// restarts counts those of all containers; kubectl's sum is of the main ones
// and sidecars once the Pod is initialized, which hides what it took to get there.
func restarts(pod *corev1.Pod) int {
	n := 0
	for _, c := range containersOf(pod) {
		if c.status != nil {
			n += int(c.status.RestartCount)
		}
	}
	return n
}

func podReady(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// The reasons between which a container alternates whose image cannot be
// pulled: that of the attempt, and that of the pause before the next one
// (k8s.io/kubernetes/pkg/kubelet/images/types.go, k8s.io/cri-api/pkg/errors/errors.go).
const (
	pullFailed          = "ErrImagePull"
	registryUnavailable = "RegistryUnavailable"
	signatureInvalid    = "SignatureValidationFailed"
	pullBackOff         = "ImagePullBackOff"
)

// failsToPull reports whether a reason is that of an attempt.
func failsToPull(reason string) bool {
	return reason == pullFailed || reason == registryUnavailable || reason == signatureInvalid
}

// pullMemory remembers what the containers said whose images cannot be pulled.
type pullMemory map[containerKey]pullState

type containerKey struct {
	pod  types.UID
	name string
}

type pullState struct {
	failure string                        // of the last attempt, its reason first
	backOff *corev1.ContainerStateWaiting // what was said last while it backed off
}

// steady returns the Pod without the kubelet's alternation between an attempt's
// error and the back-off: a container that has backed off once keeps saying
// what it said then, until it says something else. Kubelets before 1.32 do not
// repeat the error meanwhile, so it is put there. The Pod itself is not changed.
func (m pullMemory) steady(pod *corev1.Pod) *corev1.Pod {
	steady := pod
	edit := func(statuses func(*corev1.Pod) []corev1.ContainerStatus) {
		for i, s := range statuses(pod) {
			says := m.next(containerKey{pod.UID, s.Name}, s.State.Waiting)
			if says == s.State.Waiting {
				continue
			}
			if steady == pod {
				steady = pod.DeepCopy()
			}
			statuses(steady)[i].State.Waiting = says
		}
	}
	edit(func(p *corev1.Pod) []corev1.ContainerStatus { return p.Status.InitContainerStatuses })
	edit(func(p *corev1.Pod) []corev1.ContainerStatus { return p.Status.ContainerStatuses })
	return steady
}

// next takes in what a container waits for, and returns what it is to say.
func (m pullMemory) next(key containerKey, waiting *corev1.ContainerStateWaiting) *corev1.ContainerStateWaiting {
	state := m[key]
	switch {
	case waiting == nil || !failsToPull(waiting.Reason) && waiting.Reason != pullBackOff:
		delete(m, key)
		return waiting
	case failsToPull(waiting.Reason):
		state.failure = waiting.Reason + ": " + waiting.Message
	case pullError(waiting.Message) == waiting.Message && state.failure != "":
		state.backOff = &corev1.ContainerStateWaiting{Reason: pullBackOff, Message: waiting.Message + ": " + state.failure}
	default:
		state.backOff = waiting
	}
	m[key] = state
	if state.backOff != nil {
		return state.backOff
	}
	return waiting
}

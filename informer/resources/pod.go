package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail/health"
)

// container is one container of a Pod: its specification and its status.
type container struct {
	spec   corev1.Container
	role   health.Role
	status *corev1.ContainerStatus // nil if there is none yet
}

// containersOf returns the containers in the order in which they start.
func containersOf(pod *corev1.Pod) []container {
	all := make([]container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for _, spec := range pod.Spec.InitContainers {
		c := container{spec: spec, role: health.RoleInit, status: statusOf(pod.Status.InitContainerStatuses, spec.Name)}
		if spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			c.role = health.RoleSidecar
		}
		all = append(all, c)
	}
	for _, spec := range pod.Spec.Containers {
		all = append(all, container{spec: spec, role: health.RoleMain, status: statusOf(pod.Status.ContainerStatuses, spec.Name)})
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

// settled reports whether an init container lets the next one start.
func (c container) settled() bool {
	switch {
	case c.status == nil:
		return false
	case c.role == health.RoleSidecar:
		return c.status.Started != nil && *c.status.Started
	}
	return c.status.State.Terminated != nil && c.status.State.Terminated.ExitCode == 0
}

// The reasons of containers that only wait for their turn.
const (
	containerCreating = "ContainerCreating"
	podInitializing   = "PodInitializing"
)

// podStatus returns the Pod's status as kubectl prints it.
func podStatus(pod *corev1.Pod) string {
	word := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		word = pod.Status.Reason
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Reason == corev1.PodReasonSchedulingGated {
		word = c.Reason
	}
	initial, initializing := initStatus(pod)
	if initializing {
		word = initial
	}
	if c := condition(pod, corev1.PodInitialized); !initializing || c != nil && c.Status == corev1.ConditionTrue {
		word = mainStatus(pod, word)
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

// initStatus returns the status of a Pod whose init containers are running.
func initStatus(pod *corev1.Pod) (word string, initializing bool) {
	for i, c := range containersOf(pod) {
		if c.role == health.RoleMain {
			return "", false
		}
		if c.status == nil || c.settled() {
			continue
		}
		state := c.status.State
		switch {
		case state.Terminated != nil:
			return "Init:" + exitReason(state.Terminated), true
		case state.Waiting != nil && state.Waiting.Reason != "" && state.Waiting.Reason != podInitializing:
			return "Init:" + state.Waiting.Reason, true
		}
		return fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers)), true
	}
	return "", false
}

// mainStatus returns the status given by the containers, or else word. The first
// container has priority.
func mainStatus(pod *corev1.Pod, word string) string {
	running := false
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		status := pod.Status.ContainerStatuses[i]
		switch {
		case status.State.Waiting != nil && status.State.Waiting.Reason != "":
			word = status.State.Waiting.Reason
		case status.State.Terminated != nil:
			word = exitReason(status.State.Terminated)
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

func exitReason(end *corev1.ContainerStateTerminated) string {
	switch {
	case end.Reason != "":
		return end.Reason
	case end.Signal != 0:
		return fmt.Sprintf("Signal:%d", end.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", end.ExitCode)
}

// restarts counts the restarts of all containers. kubectl omits the init
// containers once the Pod is initialized, which hides their restarts.
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

// If an image cannot be pulled, its container alternates between two reasons: one
// for the attempt, and one for the pause before the next attempt
// (k8s.io/kubernetes/pkg/kubelet/images/types.go, k8s.io/cri-api/pkg/errors/errors.go).
const (
	pullFailed          = "ErrImagePull"
	registryUnavailable = "RegistryUnavailable"
	signatureInvalid    = "SignatureValidationFailed"
	pullBackOff         = "ImagePullBackOff"
)

// failsToPull reports whether a reason is one of an attempt.
func failsToPull(reason string) bool {
	return reason == pullFailed || reason == registryUnavailable || reason == signatureInvalid
}

// pullMemory holds the state of the containers whose images cannot be pulled.
type pullMemory map[containerKey]pullState

type containerKey struct {
	pod  types.UID
	name string
}

type pullState struct {
	failure string                        // of the last attempt, its reason first
	backOff *corev1.ContainerStateWaiting // the state during the last pause
}

// steady returns the Pod without the alternation between an attempt's error and the
// back-off: a container that has backed off once stays in that state until it gets
// any other. Kubelets before 1.32 do not repeat the error during the back-off, so it
// is added. The Pod itself is not changed.
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

// next records a container's waiting state, and returns the one to report.
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

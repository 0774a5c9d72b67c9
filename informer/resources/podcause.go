package resources

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/health"
)

// blamePod finds the cause for a Pod that is not ready. The policy is its owner's.
// Events are the warnings about it, the newest first.
func blamePod(row *health.Resource, pod *corev1.Pod, policy podPolicy, events []*corev1.Event) {
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		// It was evicted, for example, which its containers do not say.
		blameFailed(row, pod, policy)
		return
	}
	containers := containersOf(pod)
	for _, c := range containers {
		if c.status != nil && blameContainer(row, pod, c) {
			return
		}
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		if c.Reason == corev1.PodReasonSchedulingGated {
			blameItself(row, health.RankWaiting, health.ProblemSchedulingGated, c.Reason, c.Message)
			return
		}
		blameItself(row, health.RankSchedule, health.ProblemNotScheduled, c.Reason, c.Message)
		return
	}
	if pod.Status.Phase == corev1.PodFailed {
		blameFailed(row, pod, policy)
		return
	}
	if blameByEvent(row, containers, events) {
		return
	}
	for _, c := range containers {
		if c.role == health.RoleInit && c.status != nil && c.status.State.Running != nil {
			blame(row, health.RankWaiting, c.sentence(health.ProblemNotEnded, cmp.Or(waitingReason(containers), health.WordNotReady), ""), "")
			return
		}
	}
	message := ""
	if c := condition(pod, corev1.PodReady); c != nil {
		message = c.Message
	}
	blameItself(row, health.RankWaiting, health.ProblemNotReady, cmp.Or(waitingReason(containers), health.WordNotReady), message)
}

// blameFailed says that a Pod has failed as a whole.
func blameFailed(row *health.Resource, pod *corev1.Pod, policy podPolicy) {
	rank := health.RankContainer
	if policy == podsReplaced {
		rank = health.RankStart
	}
	cause := blameItself(row, rank, health.ProblemFailed, cmp.Or(pod.Status.Reason, health.WordFailed), pod.Status.Message)
	cause.Final = row.Owner == ""
}

// waitingReason returns the reason of the first container that waits.
func waitingReason(containers []container) string {
	for _, c := range containers {
		if c.status != nil && c.status.State.Waiting != nil {
			return c.status.State.Waiting.Reason
		}
	}
	return ""
}

// blameContainer reports whether a container keeps its Pod from being ready, and if
// so makes the kubelet's reason the cause.
func blameContainer(row *health.Resource, pod *corev1.Pod, c container) bool {
	state := c.status.State
	switch {
	case state.Waiting != nil:
		return blameWaiting(row, pod, c, state.Waiting)
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		end := state.Terminated
		s := c.sentence(health.ProblemExited, exitReason(end), strings.TrimSpace(end.Message))
		s.Exit = exitOf(end)
		cause := blame(row, health.RankContainer, s, exitMessage(end))
		cause.Final = row.Owner == "" && pod.Status.Phase == corev1.PodFailed
		cause.Source = c.source(pod, false)
		return true
	case state.Running != nil && !c.status.Ready && c.status.RestartCount > 0 && failed(c.status.LastTerminationState.Terminated):
		// It was restarted after a crash, and may crash again.
		blameCrash(row, pod, c, "")
		return true
	}
	return false
}

// blameWaiting is blameContainer for a container that waits.
func blameWaiting(row *health.Resource, pod *corev1.Pod, c container, waiting *corev1.ContainerStateWaiting) bool {
	reason, message := waiting.Reason, waiting.Message
	switch reason {
	case "", containerCreating, podInitializing:
		return false
	case "CrashLoopBackOff":
		blameCrash(row, pod, c, message)
	case pullFailed, registryUnavailable, signatureInvalid, pullBackOff, "ImageInspectError":
		problem := pullError(message)
		s := c.sentence(health.ProblemImageNotPulled, reason, problem)
		s.Image = c.spec.Image
		cause := blame(row, health.RankContainer, s, message)
		cause.Final = hopeless(problem)
		if failsToPull(reason) {
			// It alternates with the back-off; both are one cause.
			cause.Reason = pullBackOff
		}
	case "InvalidImageName", "ErrImageNeverPull":
		s := c.sentence(health.ProblemImageUnusable, reason, message)
		s.Image = c.spec.Image
		blame(row, health.RankContainer, s, message).Final = true
	default:
		blame(row, health.RankContainer, c.sentence(health.ProblemNotStarted, reason, message), message)
	}
	return true
}

// sentence returns a sentence about the container.
func (c container) sentence(problem health.Problem, reason, detail string) health.Sentence {
	return health.Sentence{Problem: problem, Container: c.spec.Name, Role: c.role, Reason: reason, Detail: detail}
}

// source returns where the container's log is. Previous selects the log of the run
// before the present or coming one.
func (c container) source(pod *corev1.Pod, previous bool) health.LogSource {
	return health.LogSource{Namespace: pod.Namespace, Pod: pod.Name, Container: c.spec.Name, Previous: previous}
}

func failed(end *corev1.ContainerStateTerminated) bool { return end != nil && end.ExitCode != 0 }

// blameCrash says that a container ends again and again. How it ended is more useful
// than the back-off.
func blameCrash(row *health.Resource, pod *corev1.Pod, c container, message string) {
	s := c.sentence(health.ProblemCrashing, "CrashLoopBackOff", "")
	if end := c.status.LastTerminationState.Terminated; end != nil {
		s.Exit, s.Detail = exitOf(end), strings.TrimSpace(end.Message)
		message = strings.TrimSuffix("last ended with "+exitMessage(end)+"; "+message, "; ")
	}
	blame(row, health.RankContainer, s, message).Source = c.source(pod, true)
}

// exitOf returns a container's exit code with the kubelet's reason.
func exitOf(end *corev1.ContainerStateTerminated) string {
	if end.Reason == "" {
		return strconv.Itoa(int(end.ExitCode))
	}
	return fmt.Sprintf("%d (%s)", end.ExitCode, end.Reason)
}

// exitMessage describes how a container ended.
func exitMessage(end *corev1.ContainerStateTerminated) string {
	return strings.TrimSuffix("exit code "+exitOf(end)+": "+strings.TrimSpace(end.Message), ": ")
}

// pullError returns why an image could not be pulled, without the words about the
// back-off in which the kubelet wraps it
// (k8s.io/kubernetes/pkg/kubelet/images/image_manager.go).
func pullError(message string) string {
	if _, wrapped, ok := strings.Cut(message, `": `); ok && strings.HasPrefix(message, "Back-off pulling image") {
		if reason, cause, ok := strings.Cut(wrapped, ": "); ok && failsToPull(reason) {
			return cause
		}
	}
	return message
}

// hopeless reports whether the registry has said that the image does not exist. It
// knows the container runtimes' status codes and the registries' messages. Any other
// error may pass, such as a registry that is down or a login that is still missing.
func hopeless(pullError string) bool {
	for _, sign := range []string{"code = NotFound", "code = InvalidArgument", "manifest unknown", "MANIFEST_UNKNOWN", "name unknown", "NAME_UNKNOWN", "repository does not exist"} {
		if strings.Contains(pullError, sign) {
			return true
		}
	}
	return strings.HasSuffix(pullError, ": not found")
}

// blameByEvent finds the cause in the newest warning about a Pod whose status does
// not have it: volumes, the sandbox, probes.
func blameByEvent(row *health.Resource, containers []container, events []*corev1.Event) bool {
	for _, event := range events {
		switch event.Reason {
		case "Unhealthy":
			for _, c := range containers {
				if c.unhealthy(event) {
					blame(row, health.RankProbe, c.sentence(health.ProblemProbeFailing, event.Reason, event.Message), event.Message)
					return true
				}
			}
		case "FailedScheduling", "BackOff", "Failed", "Killing", "Preempted":
			// The status is more precise, or it has passed.
		default:
			if waitingReason(containers) != "" {
				blameItself(row, health.RankStart, health.ProblemNotStarted, event.Reason, event.Message)
				return true
			}
		}
	}
	return false
}

// unhealthy reports whether the container runs, is not ready, and is the one whose
// probe an event says has failed. The event names it by its field path
// (k8s.io/kubernetes/pkg/kubelet/container/ref.go).
func (c container) unhealthy(event *corev1.Event) bool {
	if c.status == nil || c.status.State.Running == nil || c.status.Ready {
		return false
	}
	field := event.InvolvedObject.FieldPath
	return field == "" || strings.HasSuffix(field, "{"+c.spec.Name+"}")
}

package resources

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/stream"
)

// blame makes a row's cause and lets the row give the same reason.
func blame(row *stream.Resource, rank stream.Rank, reason, message, sentence string) *stream.Cause {
	message, sentence = cut(message), cut(sentence)
	row.Reason, row.Message = reason, message
	row.Cause = stream.Cause{
		Object: stream.ObjectRef{Kind: row.Kind, Namespace: row.Namespace, Name: row.Name},
		Reason: reason, Message: message, Text: sentence, Rank: rank,
	}
	return &row.Cause
}

// longest is how much of a message is kept, in bytes. A container may end with
// 4 KB of it, which with all its companions would make a big event.
const longest = 1200

func cut(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + " ..."
}

// with adds a message to what a sentence says.
func with(sentence, message string) string {
	if message == "" {
		return sentence
	}
	return sentence + ": " + message
}

// blamePod finds out why a Pod is not ready. Events are the warnings about it,
// the newest first.
func blamePod(row *stream.Resource, pod *corev1.Pod, events []*corev1.Event) {
	containers := containersOf(pod)
	for _, c := range containers {
		if c.status != nil && blameContainer(row, pod, c) {
			return
		}
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		if c.Reason == corev1.PodReasonSchedulingGated {
			blame(row, stream.RankWaiting, c.Reason, c.Message, with("Pod "+pod.Name+" is not to be scheduled yet", c.Message))
			return
		}
		blame(row, stream.RankSchedule, c.Reason, c.Message, with("Pod "+pod.Name+" cannot be scheduled", c.Message))
		return
	}
	if pod.Status.Phase == corev1.PodFailed {
		cause := blame(row, stream.RankContainer, orElse(pod.Status.Reason, "Failed"), pod.Status.Message,
			with(fmt.Sprintf("Pod %s has failed (%s)", pod.Name, orElse(pod.Status.Reason, "Failed")), pod.Status.Message))
		cause.Final = row.Owner == ""
		return
	}
	if blameByEvent(row, pod, containers, events) {
		return
	}
	message := ""
	if c := condition(pod, corev1.PodReady); c != nil {
		message = c.Message
	}
	blame(row, stream.RankWaiting, orElse(waitingReason(containers), "NotReady"), message,
		with(fmt.Sprintf("Pod %s is not ready (%s)", pod.Name, row.Status), message))
}

func orElse(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// waitingReason is the reason of the first container that waits.
func waitingReason(containers []container) string {
	for _, c := range containers {
		if c.status != nil && c.status.State.Waiting != nil {
			return c.status.State.Waiting.Reason
		}
	}
	return ""
}

// blameContainer finds out whether a container is what keeps its Pod from being
// ready, by the reasons that the kubelet gives.
func blameContainer(row *stream.Resource, pod *corev1.Pod, c container) bool {
	name := capital(c.describe(pod))
	state := c.status.State
	var cause *stream.Cause
	switch {
	case state.Waiting != nil:
		reason, message := state.Waiting.Reason, state.Waiting.Message
		switch reason {
		case "", containerCreating, podInitializing:
			return false
		case "CrashLoopBackOff":
			cause = blameCrash(row, c, name, message)
			cause.Source = c.source(pod, true)
		case pullFailed, pullBackOff, "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
			error := pullError(message)
			cause = blame(row, stream.RankContainer, reason, message, with(name+" cannot pull its image "+c.spec.Image, error))
			cause.Final = hopeless(error)
			if reason == pullFailed {
				// The two alternate; that they are one cause must show.
				cause.Reason = pullBackOff
			}
		case "InvalidImageName", "ErrImageNeverPull":
			cause = blame(row, stream.RankContainer, reason, message, with(fmt.Sprintf("%s cannot use its image %s (%s)", name, c.spec.Image, reason), message))
			cause.Final = true
		default:
			cause = blame(row, stream.RankContainer, reason, message, with(fmt.Sprintf("%s cannot be started (%s)", name, reason), message))
		}
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		end := state.Terminated
		cause = blame(row, stream.RankContainer, exitWord(end), exitMessage(end), name+" has failed with "+exitMessage(end))
		cause.Final = row.Owner == "" && pod.Status.Phase == corev1.PodFailed
		cause.Source = c.source(pod, false)
	case state.Running != nil && !c.status.Ready && c.status.RestartCount > 0 && failed(c.status.LastTerminationState.Terminated):
		// It has been started once more, as it will be after the next crash.
		cause = blameCrash(row, c, name, "")
		cause.Source = c.source(pod, true)
	default:
		return false
	}
	row.Container = c.spec.Name
	cause.Container = c.spec.Name
	return true
}

// source is where the container's log is. Previous means that of its last run,
// while the next one is under way or to come.
func (c container) source(pod *corev1.Pod, previous bool) stream.LogSource {
	return stream.LogSource{Namespace: pod.Namespace, Pod: pod.Name, Container: c.spec.Name, Previous: previous}
}

func failed(end *corev1.ContainerStateTerminated) bool { return end != nil && end.ExitCode != 0 }

// blameCrash says that a container ends again and again. What it ended with
// tells more than the back-off.
func blameCrash(row *stream.Resource, c container, name, message string) *stream.Cause {
	sentence := name + " keeps crashing"
	if end := c.status.LastTerminationState.Terminated; end != nil {
		sentence += ": it ended with " + exitMessage(end)
		message = strings.TrimSuffix("last ended with "+exitMessage(end)+"; "+message, "; ")
	}
	return blame(row, stream.RankContainer, "CrashLoopBackOff", message, sentence)
}

// exitMessage says how a container ended.
func exitMessage(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", end.ExitCode)
	if end.Reason != "" {
		text += " (" + end.Reason + ")"
	}
	return with(text, strings.TrimSpace(end.Message))
}

// pullError is why an image could not be pulled, without the words about the
// back-off in which the kubelet wraps it
// (k8s.io/kubernetes/pkg/kubelet/images/image_manager.go).
func pullError(message string) string {
	if _, cause, ok := strings.Cut(message, `": `+pullFailed+": "); ok && strings.HasPrefix(message, "Back-off pulling image") {
		return cause
	}
	return message
}

// hopeless reports whether the registry has said that the image does not exist:
// a container runtime's status code or what registries say. Anything else may
// pass, a registry that does not answer or a login that is still to come.
func hopeless(pullError string) bool {
	for _, sign := range []string{"code = NotFound", "code = InvalidArgument", "manifest unknown", "MANIFEST_UNKNOWN", "NAME_UNKNOWN", "repository does not exist"} {
		if strings.Contains(pullError, sign) {
			return true
		}
	}
	return strings.HasSuffix(pullError, ": not found")
}

// blameByEvent takes the newest warning about a Pod whose own status does not
// say what is wrong: volumes, the sandbox, probes.
func blameByEvent(row *stream.Resource, pod *corev1.Pod, containers []container, events []*corev1.Event) bool {
	for _, event := range events {
		switch event.Reason {
		case "Unhealthy":
			for _, c := range containers {
				if c.status != nil && c.status.State.Running != nil && !c.status.Ready {
					cause := blame(row, stream.RankProbe, event.Reason, event.Message, with(capital(c.describe(pod))+" runs but is not ready", event.Message))
					row.Container, cause.Container = c.spec.Name, c.spec.Name
					return true
				}
			}
		case "FailedScheduling", "BackOff", "Failed", "Killing", "Preempted":
			// The status says it better, or it has passed.
		default:
			if waitingReason(containers) != "" {
				blame(row, stream.RankStart, event.Reason, event.Message, with(fmt.Sprintf("Pod %s cannot be started (%s)", pod.Name, event.Reason), event.Message))
				return true
			}
		}
	}
	return false
}

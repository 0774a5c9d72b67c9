package node

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Behavior is the behavior of a container on the simulated node, chosen by its
// image's tag. With any other tag the container runs and is ready at once. In a
// pod that runs to completion (restartPolicy other than Always, as in a Job) it
// succeeds after a second.
type Behavior string

const (
	// MissingImage: the image cannot be pulled.
	MissingImage Behavior = "doesnotexist"
	// Crash: the container exits with code 1 a second after each start and is
	// never ready. A pod that may not restart it fails.
	Crash Behavior = "crash"
	// Fail is another name of Crash, for Jobs.
	Fail Behavior = "fail"
	// Slow: the container becomes ready after five seconds, or after the time in
	// DelayAnnotation.
	Slow Behavior = "slow"
)

// Annotations of a pod. Durations have Go's syntax: "5s", "1m30s".
const (
	// BehaviorAnnotation sets the Behavior of all containers but init containers,
	// regardless of their image tags.
	BehaviorAnnotation = "devcluster.helmtrail.dev/behavior"
	// DelayAnnotation sets the time until a pod becomes ready. It makes any pod
	// slow.
	DelayAnnotation = "devcluster.helmtrail.dev/delay"
	// DurationAnnotation sets how long a container runs before it exits,
	// successfully or not. The default is one second.
	DurationAnnotation = "devcluster.helmtrail.dev/duration"
	// LogAnnotation sets the log of the pod's containers. The default is one line
	// for the start and one for a failure.
	LogAnnotation = "devcluster.helmtrail.dev/log"
)

// behaviorOf returns the behavior of an image, by its tag.
func behaviorOf(image string) Behavior {
	image, _, _ = strings.Cut(image, "@")
	return Behavior(image[strings.LastIndex(image, ":")+1:])
}

// behaviors returns the behaviors of a pod's containers, in order.
func behaviors(pod *corev1.Pod, containers []corev1.Container, initial bool) []Behavior {
	all := make([]Behavior, len(containers))
	for i, container := range containers {
		all[i] = behaviorOf(container.Image)
		if chosen := pod.Annotations[BehaviorAnnotation]; chosen != "" && !initial {
			all[i] = Behavior(chosen)
		}
	}
	return all
}

// ends reports whether a container exits by itself with a failure.
func (b Behavior) ends() bool { return b == Crash || b == Fail }

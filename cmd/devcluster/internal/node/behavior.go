package node

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Behavior is how a container fares on the pretended node. An image tag that
// is none of these behaves well: the container runs and is ready at once, and
// in a pod that runs to an end (restartPolicy other than Always, as in a Job)
// it succeeds after a second.
type Behavior string

const (
	// MissingImage: the image cannot be pulled.
	MissingImage Behavior = "doesnotexist"
	// Crash: the container ends with exit code 1 a second after each start,
	// and is never ready. A pod that may not restart it fails.
	Crash Behavior = "crash"
	// Fail is Crash under the name that suits a Job.
	Fail Behavior = "fail"
	// Slow: the container takes five seconds, or what DelayAnnotation says,
	// to become ready.
	Slow Behavior = "slow"
)

// Annotations of a pod. Durations are written as Go does: "5s", "1m30s".
const (
	// BehaviorAnnotation gives all containers that are not init containers a
	// Behavior, whatever their image tags.
	BehaviorAnnotation = "devcluster.helmtrail.dev/behavior"
	// DelayAnnotation says how long a slow pod takes to become ready, and
	// makes a pod slow that is not.
	DelayAnnotation = "devcluster.helmtrail.dev/delay"
	// DurationAnnotation says how long a container runs that ends by itself,
	// well or not. The default is one second.
	DurationAnnotation = "devcluster.helmtrail.dev/duration"
	// LogAnnotation is what the pod's containers have written. The default is
	// a line for the start of one, and another for its bad end.
	LogAnnotation = "devcluster.helmtrail.dev/log"
)

// behaviorOf returns the behavior of an image, by its tag.
func behaviorOf(image string) Behavior {
	image, _, _ = strings.Cut(image, "@")
	return Behavior(image[strings.LastIndex(image, ":")+1:])
}

// behaviors returns those of a pod's containers, in their order.
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

// ends says whether a container ends by itself, and badly.
func (b Behavior) ends() bool { return b == Crash || b == Fail }

package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions returns the conditions of a pod, derived from its containers as by a
// kubelet. A condition whose status is unchanged keeps its time.
func conditions(pod *corev1.Pod, status corev1.PodStatus, initialized bool, now metav1.Time) []corev1.PodCondition {
	ready := corev1.PodCondition{Status: corev1.ConditionTrue}
	var unready []string
	for _, c := range status.ContainerStatuses {
		if !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	switch {
	case status.Phase == corev1.PodSucceeded:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodCompleted"}
	case status.Phase == corev1.PodFailed:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodFailed"}
	case len(unready) > 0:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "ContainersNotReady",
			Message: fmt.Sprintf("containers with unready status: %s", unready)}
	}
	init := corev1.PodCondition{Status: corev1.ConditionTrue}
	if !initialized {
		var incomplete []string
		for _, c := range status.InitContainerStatuses {
			if c.State.Terminated == nil || c.State.Terminated.ExitCode != 0 {
				incomplete = append(incomplete, c.Name)
			}
		}
		init = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized",
			Message: fmt.Sprintf("containers with incomplete status: %s", incomplete)}
	}
	sandbox := corev1.PodCondition{Status: corev1.ConditionTrue}
	if status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed {
		sandbox.Status = corev1.ConditionFalse
	}
	var list []corev1.PodCondition
	for _, condition := range []struct {
		name corev1.PodConditionType
		corev1.PodCondition
	}{
		{corev1.PodReadyToStartContainers, sandbox},
		{corev1.PodInitialized, init},
		{corev1.ContainersReady, ready},
		{corev1.PodReady, ready},
	} {
		c := condition.PodCondition
		c.Type, c.ObservedGeneration, c.LastTransitionTime = condition.name, pod.Generation, now
		for _, old := range pod.Status.Conditions {
			if old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		list = append(list, c)
	}
	return list
}

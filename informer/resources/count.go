package resources

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// countNothing is for kinds without replicas.
func countNothing(*unstructured.Unstructured) (ready, updated, total int) { return 0, 0, 0 }

// countSucceeded counts the pods of a Job that have succeeded.
func countSucceeded(job *unstructured.Unstructured) (ready, updated, total int) {
	return number(job, 0, "status", "succeeded"), 0, number(job, 1, "spec", "completions")
}

// countReady counts the replicas of an object that has one generation of them.
func countReady(set *unstructured.Unstructured) (ready, updated, total int) {
	return number(set, 0, "status", "readyReplicas"), 0, number(set, 1, "spec", "replicas")
}

// countUpdated counts the replicas of the newest generation.
func countUpdated(workload *unstructured.Unstructured) (ready, updated, total int) {
	if keepsOldPods(workload) {
		return number(workload, 0, "status", "readyReplicas"), number(workload, 0, "status", "updatedReplicas"), number(workload, 1, "spec", "replicas")
	}
	updated = number(workload, 0, "status", "updatedReplicas")
	all, allReady := number(workload, 0, "status", "replicas"), number(workload, 0, "status", "readyReplicas")
	return surelyReady(updated, all, allReady), updated, number(workload, 1, "spec", "replicas")
}

// countScheduled is countUpdated for a DaemonSet, which has a pod for each node.
func countScheduled(set *unstructured.Unstructured) (ready, updated, total int) {
	if keepsOldPods(set) {
		return number(set, 0, "status", "numberReady"), number(set, 0, "status", "updatedNumberScheduled"), number(set, 0, "status", "desiredNumberScheduled")
	}
	updated = number(set, 0, "status", "updatedNumberScheduled")
	all, allReady := number(set, 0, "status", "currentNumberScheduled"), number(set, 0, "status", "numberReady")
	return surelyReady(updated, all, allReady), updated, number(set, 0, "status", "desiredNumberScheduled")
}

// surelyReady returns the minimum number of ready updated replicas. The status
// does not say which replicas are ready, so all that are not may be updated ones.
// The exact number comes from the pods.
func surelyReady(updated, all, allReady int) int {
	return max(0, updated-max(0, all-allReady))
}

// countDeclared counts the replicas of a custom object that declares and reports
// them by the usual names.
func countDeclared(object *unstructured.Unstructured) (ready, updated, total int) {
	_, declared := integer(object, "spec", "replicas")
	_, reported := integer(object, "status", "replicas")
	_, reportedReady := integer(object, "status", "readyReplicas")
	if !declared || !reported && !reportedReady {
		return 0, 0, 0
	}
	return number(object, 0, "status", "readyReplicas"), number(object, 0, "status", "updatedReplicas"), number(object, 0, "spec", "replicas")
}

// number returns a field of an object, or otherwise if it is missing or no number.
func number(object *unstructured.Unstructured, otherwise int, field ...string) int {
	n, ok := integer(object, field...)
	if !ok {
		return otherwise
	}
	return int(n)
}

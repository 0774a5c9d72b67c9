package resources

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmtrail/helmtrail/health"
)

// keepsOldPods reports whether pods of an older revision stay until somebody
// deletes them, or below a StatefulSet's partition. Such an object is judged by all
// its pods.
func keepsOldPods(object *unstructured.Unstructured) bool {
	return onDelete(object) || partition(object) > 0
}

func onDelete(object *unstructured.Unstructured) bool {
	return text(field(object, "spec", "updateStrategy", "type")) == string(appsv1.OnDeleteStatefulSetStrategyType)
}

// partition returns the ordinal from which the pods of a StatefulSet are updated.
func partition(object *unstructured.Unstructured) int {
	return number(object, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
}

// judgeStatefulSet judges a StatefulSet that keeps old pods by the pods that are
// ready. kstatus calls one with OnDelete current whatever its pods do.
func judgeStatefulSet(object *unstructured.Unstructured) (judgement, error) {
	if !keepsOldPods(object) {
		return judgeByKstatus(object)
	}
	if j, decided := judgeLifecycle(object); decided {
		return j, nil
	}
	wanted := number(object, 1, "spec", "replicas")
	all, updated := number(object, 0, "status", "replicas"), number(object, 0, "status", "updatedReplicas")
	_, observed := integer(object, "status", "observedGeneration")
	switch readyPods := number(object, 0, "status", "readyReplicas"); {
	case !observed:
		return judged(health.StateProgressing, reasonNoStatus, messageNoStatus), nil
	case all < wanted:
		return judged(health.StateProgressing, "LessReplicas", fmt.Sprintf("Replicas: %d/%d", all, wanted)), nil
	case readyPods < wanted:
		return judged(health.StateProgressing, "LessReady", fmt.Sprintf("Ready: %d/%d", readyPods, wanted)), nil
	case all > wanted:
		return judged(health.StateProgressing, "ExtraPods", fmt.Sprintf("Pending termination: %d", all-wanted)), nil
	case !onDelete(object) && updated < wanted-partition(object):
		return judged(health.StateProgressing, "PartitionRollout", fmt.Sprintf("updated: %d/%d", updated, wanted-partition(object))), nil
	case text(field(object, "status", "currentRevision")) == text(field(object, "status", "updateRevision")):
		return ready(), nil
	}
	return readyWithOldPods(object, wanted-updated), nil
}

// judgeDaemonSet judges a DaemonSet with OnDelete by the pods that are ready.
// kstatus waits until all are of the newest generation, which nothing brings about.
func judgeDaemonSet(object *unstructured.Unstructured) (judgement, error) {
	if !onDelete(object) {
		return judgeByKstatus(object)
	}
	if j, decided := judgeLifecycle(object); decided {
		return j, nil
	}
	wanted, scheduled := number(object, 0, "status", "desiredNumberScheduled"), number(object, 0, "status", "currentNumberScheduled")
	_, observed := integer(object, "status", "observedGeneration")
	switch readyPods := min(number(object, 0, "status", "numberReady"), number(object, 0, "status", "numberAvailable")); {
	case !observed:
		return judged(health.StateProgressing, reasonNoStatus, messageNoStatus), nil
	case scheduled < wanted:
		return judged(health.StateProgressing, "LessCurrent", fmt.Sprintf("Current: %d/%d", scheduled, wanted)), nil
	case readyPods < wanted:
		return judged(health.StateProgressing, "LessReady", fmt.Sprintf("Ready: %d/%d", readyPods, wanted)), nil
	}
	return readyWithOldPods(object, wanted-number(object, 0, "status", "updatedNumberScheduled")), nil
}

// readyWithOldPods judges an object whose pods are ready and, some of them, of an
// older revision.
func readyWithOldPods(object *unstructured.Unstructured, old int) judgement {
	j := ready()
	if old <= 0 {
		return j
	}
	j.reason = health.ReasonOnDelete
	j.message = fmt.Sprintf("%d replicas are of an older revision: an old pod changes only when it is deleted", old)
	if !onDelete(object) {
		j.reason = health.ReasonPartition
		j.message = fmt.Sprintf("%d replicas are of an older revision: an old pod changes only when the partition (%d) is lowered", old, partition(object))
	}
	return j
}

// The reason and message of an object that its controller has not looked at yet.
const (
	reasonNoStatus  = health.ReasonNoStatus
	messageNoStatus = "its controller has not reported a status yet"
)

// judgeDeploymentConfig judges a DeploymentConfig of OpenShift by its conditions,
// and by its replicas as kstatus does for a Deployment
// (https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/workloads_apis/deploymentconfig-apps-openshift-io-v1).
func judgeDeploymentConfig(object *unstructured.Unstructured) (judgement, error) {
	if j, decided := judgeLifecycle(object); decided {
		return j, nil
	}
	all := conditionsOf(field(object, "status", "conditions"))
	progressing := all.get(string(appsv1.DeploymentProgressing))
	wanted := number(object, 0, "spec", "replicas")
	if testing, _ := field(object, "spec", "test").(bool); testing {
		wanted = 0 // it is scaled down after each rollout
	}
	readyPods, updated := number(object, 0, "status", "readyReplicas"), number(object, 0, "status", "updatedReplicas")
	available := all.get(string(appsv1.DeploymentAvailable))
	switch {
	case progressing.is(corev1.ConditionFalse) && progressing.reason != "":
		return judged(health.StateFailed, progressing.reason, progressing.message), nil
	case number(object, 0, "status", "latestVersion") == 0:
		return judged(health.StateProgressing, "NoRollout", "no rollout has been started yet"), nil
	case updated < wanted:
		return judged(health.StateProgressing, "LessUpdated", fmt.Sprintf("Updated: %d/%d", updated, wanted)), nil
	case readyPods < wanted:
		return judged(health.StateProgressing, "LessReady", fmt.Sprintf("Ready: %d/%d", readyPods, wanted)), nil
	case available.is(corev1.ConditionFalse):
		return judged(health.StateProgressing, available.reason, available.message), nil
	case progressing.is(corev1.ConditionTrue) && !completes(progressing):
		return judged(health.StateProgressing, progressing.reason, progressing.message), nil
	}
	return ready(), nil
}

// completes reports whether a condition Progressing that is true says that the
// rollout is complete, as NewReplicaSetAvailable does.
func completes(c *statusCondition) bool {
	said := words(c.reason)
	if len(said) == 0 {
		return false
	}
	switch said[len(said)-1] {
	case "available", "complete", "completed", "healthy":
		return true
	}
	return false
}

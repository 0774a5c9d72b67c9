package resources

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/helmtrail/helmtrail/health"
)

// helm4Verdict returns how Helm 4 judges an object with --wait: by kstatus, without
// paused Deployments (helm.sh/helm/v4/pkg/kube/statuswait.go). The error says why
// kstatus cannot judge it.
func helm4Verdict(object *unstructured.Unstructured) (health.HelmVerdict, error) {
	if paused, _ := field(object, "spec", "paused").(bool); paused && object.GroupVersionKind().GroupKind() == pausable {
		return health.HelmReady, nil
	}
	result, err := status.Compute(object)
	if err != nil {
		return health.HelmCannotJudge, err
	}
	switch result.Status {
	case status.CurrentStatus:
		return health.HelmReady, nil
	case status.FailedStatus:
		return health.HelmFails, nil
	}
	return health.HelmWaits, nil
}

// helm3Verdict returns how Helm 3 judges an object with --wait. The kinds that it
// waits for have their rules in the table, from helm.sh/helm/v3/pkg/kube/ready.go.
func helm3Verdict(k *kind, object *unstructured.Unstructured, readyPods int) health.HelmVerdict {
	if k.helm3(object, readyPods) {
		return health.HelmReady
	}
	return health.HelmWaits
}

// helm3NeverWaits is for kinds that Helm 3 does not wait for.
func helm3NeverWaits(*unstructured.Unstructured, int) bool { return true }

func helm3Pod(o *unstructured.Unstructured, _ int) bool {
	return conditionsOf(field(o, "status", "conditions")).get(conditionReady).is(corev1.ConditionTrue)
}

func helm3Claim(o *unstructured.Unstructured, _ int) bool {
	return text(field(o, "status", "phase")) == string(corev1.ClaimBound)
}

// helm3Other is for the kinds of Kubernetes without a row of their own: of these,
// Helm 3 waits for CustomResourceDefinitions.
func helm3Other(o *unstructured.Unstructured, _ int) bool {
	if o.GetKind() != "CustomResourceDefinition" {
		return true
	}
	all := conditionsOf(field(o, "status", "conditions"))
	return all.get("Established").is(corev1.ConditionTrue) || all.get("NamesAccepted").is(corev1.ConditionFalse)
}

// helm3Observed reports whether the newest generation has been observed.
func helm3Observed(o *unstructured.Unstructured) bool {
	generation, _ := integer(o, "metadata", "generation")
	observed, _ := integer(o, "status", "observedGeneration")
	return generation == observed
}

func helm3Service(o *unstructured.Unstructured, _ int) bool {
	switch kind := text(field(o, "spec", "type")); {
	case kind == string(corev1.ServiceTypeExternalName):
		return true
	case text(field(o, "spec", "clusterIP")) == "":
		return false
	case kind != string(corev1.ServiceTypeLoadBalancer):
		return true
	}
	return hasAddress(o)
}

// helm3Set is the rule for ReplicaSets and ReplicationControllers: all pods that
// exist are ready.
func helm3Set(o *unstructured.Unstructured, _ int) bool {
	return helm3Observed(o) && number(o, 0, "status", "readyReplicas") >= number(o, 0, "status", "replicas")
}

func helm3Deployment(o *unstructured.Unstructured, readyPods int) bool {
	if paused, _ := field(o, "spec", "paused").(bool); paused {
		return false
	}
	wanted := number(o, 1, "spec", "replicas")
	return helm3Observed(o) && readyPods >= wanted-maxUnavailable(o, wanted)
}

// maxUnavailable is the rule of Deployments
// (k8s.io/kubernetes/pkg/controller/deployment/util, ResolveFenceposts).
func maxUnavailable(o *unstructured.Unstructured, wanted int) int {
	if text(field(o, "spec", "strategy", "type")) == string(appsv1.RecreateDeploymentStrategyType) {
		return 0
	}
	surge := scaled(field(o, "spec", "strategy", "rollingUpdate", "maxSurge"), "25%", wanted, true)
	unavailable := scaled(field(o, "spec", "strategy", "rollingUpdate", "maxUnavailable"), "25%", wanted, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return min(unavailable, wanted)
}

// scaled returns a number, or a percentage of a total; a value that is neither
// counts as the total, as it does for Helm.
func scaled(value any, otherwise string, total int, roundUp bool) int {
	if n, ok := value.(int64); ok {
		return int(n)
	}
	parsed := intstr.Parse(cmp.Or(text(value), otherwise))
	n, err := intstr.GetScaledValueFromIntOrPercent(&parsed, total, roundUp)
	if err != nil {
		return total
	}
	return n
}

func helm3StatefulSet(o *unstructured.Unstructured, _ int) bool {
	if !helm3Observed(o) {
		return false
	}
	if onDelete(o) {
		return true
	}
	wanted := number(o, 1, "spec", "replicas")
	switch {
	case number(o, 0, "status", "updatedReplicas") < wanted-partition(o):
		return false
	case number(o, 0, "status", "readyReplicas") != wanted:
		return false
	}
	return partition(o) > 0 || text(field(o, "status", "currentRevision")) == text(field(o, "status", "updateRevision"))
}

func helm3DaemonSet(o *unstructured.Unstructured, _ int) bool {
	if !helm3Observed(o) {
		return false
	}
	if onDelete(o) {
		return true
	}
	wanted := number(o, 0, "status", "desiredNumberScheduled")
	unavailable := scaled(field(o, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"), "1", wanted, true)
	return number(o, 0, "status", "updatedNumberScheduled") == wanted && number(o, 0, "status", "numberReady") >= wanted-unavailable
}

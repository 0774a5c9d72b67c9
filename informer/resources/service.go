package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmtrail/helmtrail/health"
)

// warnOfNothing is for kinds that lack nothing once they are ready.
func warnOfNothing(*health.Resource, runtime.Object) {}

// warnOfMissingAddress says that a Service waits for a load balancer. kstatus
// and Helm 4 call it ready, while Helm 3 waits (helm.sh/helm/v3/pkg/kube/ready.go).
func warnOfMissingAddress(row *health.Resource, object runtime.Object) {
	service, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	if text(field(service, "spec", "type")) != string(corev1.ServiceTypeLoadBalancer) {
		return
	}
	if !hasAddress(service) {
		blameItself(row, health.RankWaiting, health.ProblemNoAddress, "NoAddress", "")
	}
}

// hasAddress reports whether a Service has an address from outside the cluster.
func hasAddress(service *unstructured.Unstructured) bool {
	for _, path := range [][]string{{"spec", "externalIPs"}, {"status", "loadBalancer", "ingress"}} {
		if addresses, _ := field(service, path...).([]any); len(addresses) > 0 {
			return true
		}
	}
	return false
}

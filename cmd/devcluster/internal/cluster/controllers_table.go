package cluster

import "context"

// loop is a controller's main loop. It returns when ctx is done.
type loop func(ctx context.Context)

// controllerTable lists the controllers. Each uses the service account that
// RBAC's default policy has for it.
var controllerTable = []struct {
	account string
	make    func(ctx context.Context, c *controllers, account string) ([]loop, error)
}{
	// The others need the tokens of this one.
	{"tokens-controller", newTokens},
	{"service-account-controller", newServiceAccounts},
	{"root-ca-cert-publisher", newRootCA},
	{"clusterrole-aggregation-controller", newRoleAggregation},
	{"namespace-controller", newNamespaces},
	{"generic-garbage-collector", newGarbageCollector},
	{"resourcequota-controller", newQuota},
	{"deployment-controller", newDeployments},
	{"replicaset-controller", newReplicaSets},
	{"replication-controller", newReplication},
	{"statefulset-controller", newStatefulSets},
	{"daemon-set-controller", newDaemonSets},
	{"job-controller", newJobs},
	{"cronjob-controller", newCronJobs},
	{"ttl-after-finished-controller", newFinishedJobs},
	{"horizontal-pod-autoscaler", newAutoscaler},
	{"disruption-controller", newDisruption},
	{"endpoint-controller", newEndpoints},
	{"endpointslice-controller", newEndpointSlices},
	{"service-cidrs-controller", newServiceCIDRs},
	{"persistent-volume-binder", newVolumeBinder},
	{"pvc-protection-controller", newClaimProtection},
	{"pv-protection-controller", newVolumeProtection},
	{"node-controller", newNodeLifecycle},
	{"node-controller", newTaintEviction},
}

package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/health"
)

// The resources that are looked up by their owners and subjects.
var (
	podsResource        = corev1.SchemeGroupVersion.WithResource("pods")
	claimsResource      = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	eventsResource      = corev1.SchemeGroupVersion.WithResource("events")
	setsResource        = appsv1.SchemeGroupVersion.WithResource("replicasets")
	controllersResource = corev1.SchemeGroupVersion.WithResource("replicationcontrollers")
	jobsResource        = batchv1.SchemeGroupVersion.WithResource("jobs")
)

const (
	// warnings selects the events that explain most objects.
	warnings = "type!=" + corev1.EventTypeNormal
	// claimEvents selects the events about claims. The most telling one is no
	// warning.
	claimEvents = "involvedObject.kind=PersistentVolumeClaim"
)

// Explicit empty values, since no field of a row is left out.
var (
	noEvents     = []string{}
	noDependents = []*kind{}
)

// pausable is the kind that Helm 4 does not wait for while it is paused.
var pausable = schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}

// expiring is the kind whose objects may have a ttlSecondsAfterFinished.
var expiring = schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}

// endingKinds are the ends of the names of custom kinds whose objects run to an
// end. One that runs has not reached it.
var endingKinds = []string{"Job", "Run", "Workflow", "Backup", "Restore", "Task", "Test", "SparkApplication"}

// kinds is the table. A kind without a row is treated as otherKind if
// Kubernetes itself has its API group, and as customKind if not.
var kinds = []*kind{
	deploymentKind, statefulSetKind, daemonSetKind, replicaSetKind, replicationControllerKind, deploymentConfigKind, jobKind, cronJobKind, podKind,
	claimKind, serviceKind, secretKind, configMapKind, eventKind,
}

var deploymentKind = &kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), resource: "deployments", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{replicaSetKind, podKind}, pods: podsReplaced,
	judge: judgeByKstatus, helm3: helm3Deployment, count: countUpdated, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var statefulSetKind = &kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), resource: "statefulsets", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{claimKind, podKind}, pods: podsReplaced,
	judge: judgeStatefulSet, helm3: helm3StatefulSet, count: countUpdated, generation: statefulSetGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: (*view).blameFailedCreate, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var daemonSetKind = &kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), resource: "daemonsets", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{podKind}, pods: podsReplaced,
	judge: judgeDaemonSet, helm3: helm3DaemonSet, count: countScheduled, generation: daemonSetGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: (*view).blameFailedCreate, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var replicaSetKind = &kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), resource: setsResource.Resource,
	watching: watchingOf(&appsv1.ReplicaSet{}, func(c Clients, p place) listerWatcher[*appsv1.ReplicaSetList] {
		return c.Apps.ReplicaSets(p.namespace)
	}, stripReplicaSet, byOwner),
	events: []string{warnings}, owns: []*kind{podKind}, pods: podsReplaced,
	judge: judgeByKstatus, helm3: helm3Set, count: countReady, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: (*view).replicaSetRows,
	blameShortage: (*view).blameSet, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var replicationControllerKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ReplicationController"), resource: controllersResource.Resource,
	watching: watchingOf(&corev1.ReplicationController{}, func(c Clients, p place) listerWatcher[*corev1.ReplicationControllerList] {
		return c.Core.ReplicationControllers(p.namespace)
	}, stripReplicationController, byOwner),
	events: []string{warnings}, owns: []*kind{podKind}, pods: podsReplaced,
	judge: judgeAs(replicaSetKind.GroupVersionKind), helm3: helm3Set, count: countReady, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: (*view).replicationControllerRows,
	blameShortage: (*view).blameSet, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var deploymentConfigKind = &kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "apps.openshift.io", Version: "v1", Kind: "DeploymentConfig"},
	resource:         "deploymentconfigs", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{replicationControllerKind, podKind}, pods: podsReplaced,
	judge: judgeDeploymentConfig, helm3: helm3NeverWaits, count: countUpdated, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var jobKind = &kind{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), resource: jobsResource.Resource,
	watching: watchingOf(&batchv1.Job{}, func(c Clients, p place) listerWatcher[*batchv1.JobList] {
		return c.Batch.Jobs(p.namespace)
	}, stripJob, byOwner),
	events: []string{warnings}, owns: []*kind{podKind}, pods: podsKept,
	judge: judgeJob, helm3: helm3NeverWaits, count: countSucceeded, generation: oneGeneration,
	complete: (*view).completeJob, dependents: (*view).jobRows,
	blameShortage: blameNothing, unready: health.ProblemNotEnded, warn: warnOfNothing,
}

var cronJobKind = &kind{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), resource: "cronjobs", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{jobKind, podKind}, pods: podsReplaced,
	judge: judgeByKstatus, helm3: helm3NeverWaits, count: countNothing, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var podKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), resource: podsResource.Resource,
	watching: watchingOf(&corev1.Pod{}, func(c Clients, p place) listerWatcher[*corev1.PodList] {
		return c.Core.Pods(p.namespace)
	}, stripPod, byOwner),
	events: []string{warnings}, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3Pod, count: countNothing, generation: oneGeneration,
	complete: (*view).completePod, dependents: (*view).podRows,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var claimKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), resource: claimsResource.Resource,
	watching: watchingOf(&corev1.PersistentVolumeClaim{}, func(c Clients, p place) listerWatcher[*corev1.PersistentVolumeClaimList] {
		return c.Core.PersistentVolumeClaims(p.namespace)
	}, stripClaim, byOwner),
	events: []string{claimEvents}, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3Claim, count: countNothing, generation: oneGeneration,
	complete: (*view).completeClaim, dependents: (*view).claimRows,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var serviceKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"), resource: "services", watching: wholeObjects,
	events: noEvents, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3Service, count: countNothing, generation: oneGeneration,
	complete: alone, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfMissingAddress,
}

var secretKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), resource: "secrets", watching: metadataOnly,
	events: noEvents, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3NeverWaits, count: countNothing, generation: oneGeneration,
	complete: alone, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var configMapKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), resource: "configmaps", watching: metadataOnly,
	events: noEvents, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3NeverWaits, count: countNothing, generation: oneGeneration,
	complete: alone, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

var eventKind = &kind{
	GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Event"), resource: eventsResource.Resource,
	watching: watchingOf(&corev1.Event{}, func(c Clients, p place) listerWatcher[*corev1.EventList] {
		return c.Core.Events(p.namespace)
	}, stripEvent, bySubject),
	events: noEvents, owns: noDependents, pods: noPods,
	judge: judgeByKstatus, helm3: helm3NeverWaits, count: countNothing, generation: oneGeneration,
	complete: alone, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

// otherKind is for the kinds of Kubernetes that have no row of their own.
var otherKind = &kind{
	GroupVersionKind: schema.GroupVersionKind{}, resource: "*", watching: wholeObjects,
	events: noEvents, owns: noDependents, pods: noPods,
	judge: judgeByStatus, helm3: helm3Other, count: countNothing, generation: oneGeneration,
	complete: alone, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

// customKind is for kinds that others have defined. They may run pods, as
// Argo's Rollout does.
var customKind = &kind{
	GroupVersionKind: schema.GroupVersionKind{}, resource: "*", watching: wholeObjects,
	events: []string{warnings}, owns: []*kind{replicaSetKind, podKind}, pods: podsReplaced,
	judge: judgeByStatus, helm3: helm3NeverWaits, count: countDeclared, generation: oneGeneration,
	complete: (*view).completeWorkload, dependents: neverOwned,
	blameShortage: blameNothing, unready: health.ProblemNotReady, warn: warnOfNothing,
}

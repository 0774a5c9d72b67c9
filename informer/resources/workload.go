package resources

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/stream"
)

// jobRows are those of a Job's pods. The Job's own row says why it has failed.
func (v *view) jobRows(job *batchv1.Job, row *stream.Resource) []stream.Resource {
	rows := v.podRows(job, row.Key(), row.Old, nil)
	if _, err := v.sight.at(place{resource: podsResource, namespace: job.Namespace}); err != nil && forbidden(err) {
		delete(v.failures, job.UID)
	}
	for _, pod := range rows {
		if pod.Cause.Rank == stream.RankContainer {
			v.failures[job.UID] = pod
			row.Restarts += pod.Restarts
			break
		}
	}
	over := ended(job)
	switch {
	case over == nil:
		v.blameCreation(row, job, job.Status.Active+job.Status.Succeeded+job.Status.Failed == 0 && !suspended(job))
		return rows
	case over.Type == batchv1.JobComplete:
		delete(v.failures, job.UID)
	default:
		v.blameJob(job, row, over)
	}
	for i := range rows {
		rows[i].Cause = stream.Cause{}
	}
	return rows
}

// ended returns the condition that says how a Job has ended, nil while it has not.
func ended(job *batchv1.Job) *batchv1.JobCondition {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobComplete} {
		for i, c := range job.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionTrue {
				return &job.Status.Conditions[i]
			}
		}
	}
	return nil
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// blameJob says why a Job has failed: it has given up, and what its last pod
// ended with.
func (v *view) blameJob(job *batchv1.Job, row *stream.Resource, end *batchv1.JobCondition) {
	row.Status, row.Current = statusFailed, false
	failure := v.failures[job.UID].Cause
	cause := blame(row, stream.RankContainer, stream.Sentence{
		Problem: stream.ProblemFailed, Container: failure.Container, Role: failure.Role, Reason: end.Reason, Detail: end.Message,
	}, end.Message)
	if failure.Problem != "" {
		cause.Explain(failure.Sentence)
	}
	cause.Source = failure.Source
	cause.Final = true
}

// blameCreation finds out why pods that are wanted do not exist. What the
// object's own condition says counts, otherwise the newest event.
func (v *view) blameCreation(row *stream.Resource, owner metav1.Object, wanted bool) {
	if !wanted {
		return
	}
	say := func(reason, message string) {
		blameItself(row, stream.RankCreate, stream.ProblemPodsNotCreated, reason, message)
	}
	if set, ok := owner.(*appsv1.ReplicaSet); ok {
		for _, c := range set.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
				say(c.Reason, c.Message)
				return
			}
		}
	}
	for _, event := range v.events(owner.GetNamespace(), owner.GetUID(), warnings) {
		if event.Reason == "FailedCreate" {
			say(event.Reason, event.Message)
			return
		}
	}
}

// claimRow says how a claim is.
func (v *view) claimRow(claim *corev1.PersistentVolumeClaim, row stream.Resource) stream.Resource {
	row.Status = string(claim.Status.Phase)
	if claim.DeletionTimestamp != nil {
		row.Status = statusTerminating
	}
	switch {
	case row.Status == statusTerminating:
		return row
	case row.Current:
		row.Status = statusReady
		return row
	}
	for _, event := range v.events(claim.Namespace, claim.UID, claimEvents) {
		switch event.Reason {
		case "ProvisioningFailed", "FailedBinding", "VolumeMismatch":
			blameItself(&row, stream.RankVolume, stream.ProblemNotBound, event.Reason, event.Message)
			return row
		case "ProvisioningCleanupFailed", "ProvisioningSucceeded":
		default:
			blameItself(&row, stream.RankWaiting, stream.ProblemNotBound, event.Reason, event.Message)
			return row
		}
	}
	return row
}

// blameOwn finds the cause in a target's own state when nothing that it owns
// tells one.
func (v *view) blameOwn(row *stream.Resource, owner metav1.Object, rows []stream.Resource) {
	deeper := slices.ContainsFunc(rows, func(r stream.Resource) bool { return r.Cause.Reason != "" && r.Cause.Rank < stream.RankWaiting })
	waiting := slices.ContainsFunc(rows, func(r stream.Resource) bool { return r.Cause.Reason != "" })
	if row.Cause.Reason != "" {
		return
	}
	if owner != nil && (row.Kind == "StatefulSet" || row.Kind == "DaemonSet" || row.Kind == "ReplicaSet") && len(rows) < row.Total {
		v.blameCreation(row, owner, true)
		if row.Cause.Reason != "" {
			return
		}
	}
	switch {
	case row.Reason == "ProgressDeadlineExceeded":
		blameItself(row, stream.RankStalled, stream.ProblemNoProgress, row.Reason, row.Message)
	case row.Status == statusFailed && !deeper:
		blameItself(row, stream.RankCondition, stream.ProblemFailed, cmp.Or(row.Reason, stream.WordFailed), row.Message)
	case row.Status == statusTerminating && owner != nil:
		blameItself(row, stream.RankWaiting, stream.ProblemDeleting, statusTerminating, strings.Join(owner.GetFinalizers(), ", "))
	case row.Status == statusProgressing && !waiting:
		reason, problem := row.Reason, stream.ProblemNotReady
		if row.Kind == "Job" {
			problem = stream.ProblemNotEnded
		}
		blameItself(row, stream.RankWaiting, problem, cmp.Or(reason, stream.WordNotReady), row.Message)
		row.Reason = reason // a Job that runs gives none
	}
}

// blameAddress says of a Service that it waits for a load balancer. kstatus and
// Helm 4 take it for ready, while Helm 3 waits (helm.sh/helm/v3/pkg/kube/ready.go).
func blameAddress(row *stream.Resource, object runtime.Object) {
	service, ok := object.(*unstructured.Unstructured)
	if !ok || service.GroupVersionKind().GroupKind() != serviceKind {
		return
	}
	if kind, _, _ := unstructured.NestedString(service.Object, "spec", "type"); kind != string(corev1.ServiceTypeLoadBalancer) {
		return
	}
	for _, field := range [][]string{{"spec", "externalIPs"}, {"status", "loadBalancer", "ingress"}} {
		if addresses, _, _ := unstructured.NestedSlice(service.Object, field...); len(addresses) > 0 {
			return
		}
	}
	blameItself(row, stream.RankWaiting, stream.ProblemNoAddress, "NoAddress", "")
}

var serviceKind = schema.GroupKind{Kind: "Service"}

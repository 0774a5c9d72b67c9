package resources

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	sentence := with(fmt.Sprintf("Job %s has failed (%s)", job.Name, end.Reason), end.Message)
	failure := v.failures[job.UID]
	if failure.Cause.Text != "" {
		sentence += ". " + failure.Cause.Text
	}
	cause := blame(row, stream.RankContainer, end.Reason, end.Message, sentence)
	cause.Container, row.Container = failure.Cause.Container, failure.Cause.Container
	cause.Source = failure.Cause.Source
	cause.Final = true
}

// blameCreation finds out why pods that are wanted do not exist. What the
// object's own condition says counts, otherwise the newest event.
func (v *view) blameCreation(row *stream.Resource, owner metav1.Object, wanted bool) {
	if !wanted {
		return
	}
	say := func(reason, message string) {
		blame(row, stream.RankCreate, reason, message, with(fmt.Sprintf("%s %s cannot create its pods", row.Kind, row.Name), message))
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
	if row.Current {
		row.Status = statusReady
		return row
	}
	for _, event := range v.events(claim.Namespace, claim.UID, claimEvents) {
		sentence := with(fmt.Sprintf("PersistentVolumeClaim %s is not bound", claim.Name), event.Message)
		switch event.Reason {
		case "ProvisioningFailed", "FailedBinding", "VolumeMismatch":
			blame(&row, stream.RankVolume, event.Reason, event.Message, sentence)
			return row
		case "ProvisioningCleanupFailed", "ProvisioningSucceeded":
		default:
			blame(&row, stream.RankWaiting, event.Reason, event.Message, sentence)
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
	subject := row.Kind + " " + row.Name
	switch {
	case row.Reason == "ProgressDeadlineExceeded":
		blame(row, stream.RankStalled, row.Reason, row.Message, with(subject+" makes no progress any more", row.Message))
	case row.Status == statusFailed && !deeper:
		blame(row, stream.RankCondition, orElse(row.Reason, "Failed"), row.Message, with(subject+" has failed", row.Message))
	case row.Status == statusProgressing && !waiting:
		reason := row.Reason
		blame(row, stream.RankWaiting, orElse(reason, "NotReady"), row.Message, with(subject+" is not ready", row.Message))
		row.Reason = reason // a Job that runs gives none
	}
}

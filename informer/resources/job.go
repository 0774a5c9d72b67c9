package resources

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/health"
)

// jobRows returns the rows of an owner's Jobs and their pods.
func (v *view) jobRows(k *kind, o owner) []health.Resource {
	var rows []health.Resource
	for _, job := range v.jobs(o.object) {
		rows = append(rows, v.assess(k, nil, k.dependentRow(job, o.key), job))
		row := &rows[len(rows)-1]
		rows = append(rows, v.completeJob(owner{kind: k, object: job, row: row, key: row.Key()})...)
	}
	return rows
}

// jobs returns the Jobs of an owner, the newest first.
func (v *view) jobs(owner metav1.Object) []*batchv1.Job {
	jobs := ownedBy[*batchv1.Job](v, jobsResource, owner.GetNamespace(), owner.GetUID())
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return jobs
}

// completeJob returns the rows of a Job's pods. The Job's own row says why it has
// failed.
func (v *view) completeJob(o owner) []health.Resource {
	job, ok := o.object.(*batchv1.Job)
	if !ok {
		return nil
	}
	row := o.row
	o.old = row.Old
	rows := v.dependents(o)
	if _, err := v.lister.indexer(place{resource: podsResource, namespace: job.Namespace}); err != nil && forbidden(err) {
		delete(v.failures, job.UID)
	}
	for _, pod := range rows {
		if pod.Cause.Rank == health.RankContainer {
			v.failures[job.UID] = pod
			row.Restarts += pod.Restarts
			break
		}
	}
	end := ended(job)
	switch {
	case end == nil:
		if job.Status.Active+job.Status.Succeeded+job.Status.Failed == 0 && !suspended(job) {
			v.blameFailedCreate(row, job)
		}
		return rows
	case end.Type == batchv1.JobComplete:
		delete(v.failures, job.UID)
	default:
		v.blameJob(job, row, end)
	}
	for i := range rows {
		rows[i].Cause = health.Cause{}
	}
	return rows
}

// ended returns the condition that says how a Job has ended, nil while it runs.
func ended(job *batchv1.Job) *batchv1.JobCondition {
	for _, condition := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobComplete} {
		for i, c := range job.Status.Conditions {
			if c.Type == condition && c.Status == corev1.ConditionTrue {
				return &job.Status.Conditions[i]
			}
		}
	}
	return nil
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// blameJob says why a Job has failed: it has given up, and how its last pod has
// ended.
func (v *view) blameJob(job *batchv1.Job, row *health.Resource, end *batchv1.JobCondition) {
	row.State, row.Status, row.Current = health.StateFailed, statusFailed, false
	failure := v.failures[job.UID].Cause
	cause := blame(row, health.RankContainer, health.Sentence{
		Problem: health.ProblemFailed, Container: failure.Container, Role: failure.Role, Reason: end.Reason, Detail: end.Message,
	}, end.Message)
	if failure.Problem != "" {
		cause.Explain(failure.Sentence)
	}
	cause.Source = failure.Source
	cause.Final = true
}

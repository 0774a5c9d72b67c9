package resources

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/health"
)

// podRows returns the rows of an owner's pods, the bad ones first.
func (v *view) podRows(k *kind, o owner) []health.Resource {
	generation := o.generation(o.object)
	pods := ownedBy[*corev1.Pod](v, podsResource, o.object.GetNamespace(), o.object.GetUID())
	rows := make([]health.Resource, 0, len(pods))
	for _, pod := range pods {
		row := v.podRow(pod, k.dependentRow(pod, o.key), o.pods)
		if row.Old = o.old || generation.older(pod.Labels); row.Old {
			row.Cause = health.Cause{}
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b health.Resource) int {
		return cmp.Or(
			cmp.Compare(rank(!a.Old), rank(!b.Old)),
			cmp.Compare(rank(a.Cause.Reason != ""), rank(b.Cause.Reason != "")),
			cmp.Compare(a.Cause.Rank, b.Cause.Rank),
			cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// completePod completes the row of a Pod that a record names.
func (v *view) completePod(o owner) []health.Resource {
	if pod, ok := o.object.(*corev1.Pod); ok {
		old := o.row.Old
		*o.row = v.podRow(pod, *o.row, noPods)
		o.row.Old = old
	}
	return nil
}

// podRow returns the row of a Pod. The policy is its owner's, noPods if it has
// none.
func (v *view) podRow(pod *corev1.Pod, row health.Resource, policy podPolicy) health.Resource {
	v.seen[pod.UID] = true
	pod = v.pulls.steady(pod)
	row.Status, row.Restarts = podStatus(pod), restarts(pod)
	row.Current = pod.DeletionTimestamp == nil && (podReady(pod) || pod.Status.Phase == corev1.PodSucceeded)
	row.State, row.Reason, row.Message = health.StateProgressing, "", ""
	if !row.Current && pod.DeletionTimestamp == nil {
		blamePod(&row, pod, policy, v.events(pod.Namespace, pod.UID, warnings))
		if pod.Status.Phase == corev1.PodFailed || row.Cause.Final || row.Cause.Problem == health.ProblemCrashing {
			row.State = health.StateFailed
		}
	}
	return row
}

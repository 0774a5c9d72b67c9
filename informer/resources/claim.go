package resources

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/health"
)

// claimRows returns the rows of the claims of a StatefulSet.
func (v *view) claimRows(k *kind, o owner) []health.Resource {
	var rows []health.Resource
	for _, claim := range v.claims(o.object) {
		rows = append(rows, v.claimRow(claim, v.assess(k, nil, k.dependentRow(claim, o.key), claim)))
	}
	return rows
}

// claims returns the claims that were created from a StatefulSet's templates. The
// StatefulSet owns them only if it will delete them; otherwise they are found by
// the names in its pods.
func (v *view) claims(set metav1.Object) []*corev1.PersistentVolumeClaim {
	objects, err := v.lister.indexer(place{resource: claimsResource, namespace: set.GetNamespace()})
	if err != nil {
		return nil
	}
	claims := ownedBy[*corev1.PersistentVolumeClaim](v, claimsResource, set.GetNamespace(), set.GetUID())
	for _, pod := range ownedBy[*corev1.Pod](v, podsResource, set.GetNamespace(), set.GetUID()) {
		for _, volume := range pod.Spec.Volumes {
			// k8s.io/kubernetes/pkg/controller/statefulset: <template>-<pod>.
			if volume.PersistentVolumeClaim == nil || volume.PersistentVolumeClaim.ClaimName != volume.Name+"-"+pod.Name {
				continue
			}
			found, err := find(objects, set.GetNamespace(), volume.PersistentVolumeClaim.ClaimName)
			if claim, ok := found.(*corev1.PersistentVolumeClaim); err == nil && ok && !slices.Contains(claims, claim) {
				claims = append(claims, claim)
			}
		}
	}
	slices.SortFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int { return cmp.Compare(a.Name, b.Name) })
	return claims
}

// completeClaim completes the row of a claim that a record names.
func (v *view) completeClaim(o owner) []health.Resource {
	if claim, ok := o.object.(*corev1.PersistentVolumeClaim); ok {
		*o.row = v.claimRow(claim, *o.row)
	}
	return nil
}

// claimRow returns the row of a claim.
func (v *view) claimRow(claim *corev1.PersistentVolumeClaim, row health.Resource) health.Resource {
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
			blameItself(&row, health.RankVolume, health.ProblemNotBound, event.Reason, event.Message)
			return row
		case "ProvisioningCleanupFailed", "ProvisioningSucceeded":
		default:
			blameItself(&row, health.RankWaiting, health.ProblemNotBound, event.Reason, event.Message)
			return row
		}
	}
	return row
}

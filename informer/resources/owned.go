package resources

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// belowOf returns where objects are that the objects of a place own, and the
// events that say what is wrong with them.
func belowOf(p place) []place {
	if p.namespace == "" {
		return nil
	}
	in := func(fields string, resources ...schema.GroupVersionResource) []place {
		places := []place{{eventsResource, p.namespace, fields}}
		for _, r := range resources {
			places = append(places, place{resource: r, namespace: p.namespace})
		}
		return places
	}
	switch p.resource.GroupResource().String() {
	case "deployments.apps":
		return in(warnings, setsResource, podsResource)
	case "statefulsets.apps":
		return append(in(warnings, podsResource, claimsResource), place{eventsResource, p.namespace, claimEvents})
	case "replicasets.apps", "daemonsets.apps", "replicationcontrollers", "jobs.batch":
		return in(warnings, podsResource)
	case "cronjobs.batch":
		return in(warnings, jobsResource, podsResource)
	case "pods":
		return in(warnings)
	case "persistentvolumeclaims":
		return in(claimEvents)
	}
	if builtIn(p.resource.Group) {
		return nil
	}
	// A kind of somebody's own may run pods, as Argo's Rollout does.
	return in(warnings, setsResource, podsResource)
}

// builtIn reports whether Kubernetes itself has the API group.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// ownedBy returns the objects of a kind in the namespace that are owned by uid.
// What cannot be read is none; missing says so.
func ownedBy[T any](v *view, resource schema.GroupVersionResource, namespace string, uid types.UID) []T {
	objects, err := v.sight.at(place{resource: resource, namespace: namespace})
	if err != nil {
		return nil
	}
	list, err := objects.ByIndex(byOwner, string(uid))
	if err != nil {
		return nil
	}
	all := make([]T, 0, len(list))
	for _, o := range list {
		if object, ok := o.(T); ok {
			all = append(all, object)
		}
	}
	return all
}

// sets returns the ReplicaSets of an owner of that revision, the newest first,
// without those that only remember how it once was.
func (v *view) sets(owner metav1.Object, revision string) []*appsv1.ReplicaSet {
	sets := ownedBy[*appsv1.ReplicaSet](v, setsResource, owner.GetNamespace(), owner.GetUID())
	sets = slices.DeleteFunc(sets, func(s *appsv1.ReplicaSet) bool {
		return s.Spec.Replicas != nil && *s.Spec.Replicas == 0 && s.Status.Replicas == 0 && !newest(revision, s)
	})
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(rank(newest(revision, a)), rank(newest(revision, b))), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return sets
}

// rank puts what is true first.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// newest tells whether the ReplicaSet is that of its owner's revision. The
// Deployment controller numbers both; where nobody does, each ReplicaSet counts.
func newest(revision string, set *appsv1.ReplicaSet) bool {
	return revision == "" || set.Annotations[revisionAnnotation] == "" || set.Annotations[revisionAnnotation] == revision
}

// rolloutOf is the number that the Deployment controller gave, 0 for none.
func rolloutOf(o metav1.Object) int {
	n, err := strconv.Atoi(o.GetAnnotations()[revisionAnnotation])
	if err != nil {
		return 0
	}
	return n
}

// jobs returns the Jobs of an owner, the newest first.
func (v *view) jobs(owner metav1.Object) []*batchv1.Job {
	jobs := ownedBy[*batchv1.Job](v, jobsResource, owner.GetNamespace(), owner.GetUID())
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return jobs
}

// claims returns the claims of the StatefulSet's pods that it made from its
// templates. Unless it deletes them one day it does not own them, and then
// only its pods name them.
func (v *view) claims(set metav1.Object, pods []*corev1.Pod) []*corev1.PersistentVolumeClaim {
	objects, err := v.sight.at(place{resource: claimsResource, namespace: set.GetNamespace()})
	if err != nil {
		return nil
	}
	claims := ownedBy[*corev1.PersistentVolumeClaim](v, claimsResource, set.GetNamespace(), set.GetUID())
	for _, pod := range pods {
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

// events returns what was said about an object, the newest first.
func (v *view) events(namespace string, uid types.UID, fields string) []*corev1.Event {
	objects, err := v.sight.at(place{eventsResource, namespace, fields})
	if err != nil {
		return nil
	}
	list, err := objects.ByIndex(bySubject, string(uid))
	if err != nil {
		return nil
	}
	events := make([]*corev1.Event, 0, len(list))
	for _, o := range list {
		if event, ok := o.(*corev1.Event); ok {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b *corev1.Event) int {
		return cmp.Or(said(b).Compare(said(a)), cmp.Compare(a.Name, b.Name))
	})
	return events
}

// said is when an event was last repeated.
func said(e *corev1.Event) time.Time {
	newest := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(newest) {
			newest = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(newest) {
		newest = e.Series.LastObservedTime.Time
	}
	return newest
}

// missing says why what the target owns cannot be read, "" if it can be.
func (v *view) missing(t *target) string {
	var problems []string
	for _, p := range t.below {
		if _, err := v.sight.at(p); err != nil && !errors.Is(err, errNotYet) {
			problems = append(problems, err.Error())
		}
	}
	slices.Sort(problems)
	return strings.Join(slices.Compact(problems), "; ")
}

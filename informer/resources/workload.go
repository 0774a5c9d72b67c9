package resources

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmtrail/helmtrail/health"
)

// alone is for kinds without dependents and without events of their own.
func alone(*view, owner) []health.Resource { return nil }

// neverOwned is for kinds whose objects are not shown as dependents.
func neverOwned(*view, *kind, owner) []health.Resource { return nil }

// completeWorkload makes the rows of an object's dependents and counts the
// pods that are ready among them.
func (v *view) completeWorkload(o owner) []health.Resource {
	rows := v.dependents(o)
	ready, counted := 0, false
	for i := range rows {
		if rows[i].Kind == podKind.Kind {
			counted = true
			if rows[i].Current && !rows[i].Old {
				ready++
			}
		}
	}
	if counted && o.row.Total > 0 {
		o.row.Ready = min(ready, o.row.Total)
	}
	return rows
}

// dependents returns the rows of all dependents of an object.
func (v *view) dependents(o owner) []health.Resource {
	var rows []health.Resource
	for _, k := range o.owns {
		if more := k.dependents(v, k, o); rows == nil {
			rows = more // rows are big: most objects have dependents of one kind
		} else {
			rows = append(rows, more...)
		}
	}
	return rows
}

// replicaSetRows returns the rows of the ReplicaSets of an owner and their pods.
func (v *view) replicaSetRows(k *kind, o owner) []health.Resource {
	revision := o.object.GetAnnotations()[revisionAnnotation]
	o.row.Revision = rolloutOf(o.object)
	var rows []health.Resource
	for _, set := range v.sets(o.object, revision) {
		rows = append(rows, v.assess(k, nil, k.dependentRow(set, o.key), set))
		row := &rows[len(rows)-1]
		row.Old, row.Revision = !newest(revision, set), rolloutOf(set)
		if !row.Old && int(set.Status.Replicas) < row.Total {
			v.blameReplicaSet(row, set)
		}
		rows = append(rows, v.dependents(owner{kind: k, object: set, row: row, key: row.Key(), old: row.Old})...)
	}
	return rows
}

// sets returns the ReplicaSets of an owner and revision, the newest first,
// without those that are only kept for a rollback.
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

// rank sorts true before false.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// newest reports whether the ReplicaSet belongs to its owner's revision. The
// Deployment controller numbers both; without numbers each ReplicaSet counts.
func newest(revision string, set *appsv1.ReplicaSet) bool {
	return revision == "" || set.Annotations[revisionAnnotation] == "" || set.Annotations[revisionAnnotation] == revision
}

// rolloutOf returns the number that the Deployment controller gave, 0 for none.
func rolloutOf(o metav1.Object) int {
	n, err := strconv.Atoi(o.GetAnnotations()[revisionAnnotation])
	if err != nil {
		return 0
	}
	return n
}

// oneGeneration is for kinds whose pods do not say which generation they are of.
func oneGeneration(metav1.Object) generation { return generation{} }

func statefulSetGeneration(o metav1.Object) generation {
	set, ok := o.(*unstructured.Unstructured)
	if !ok {
		return generation{}
	}
	revision, _, _ := unstructured.NestedString(set.Object, "status", "updateRevision")
	return generation{appsv1.ControllerRevisionHashLabelKey, revision}
}

func daemonSetGeneration(o metav1.Object) generation {
	return generation{templateGenerationLabel, o.GetAnnotations()[appsv1.DeprecatedTemplateGeneration]}
}

// blameNothing is for kinds that do not say why dependents are missing.
func blameNothing(*view, *health.Resource, metav1.Object) {}

// blameReplicaSet finds the cause for a ReplicaSet with too few pods: its own
// condition, otherwise the newest event.
func (v *view) blameReplicaSet(row *health.Resource, o metav1.Object) {
	if set, ok := o.(*appsv1.ReplicaSet); ok {
		for _, c := range set.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
				blameItself(row, health.RankCreate, health.ProblemPodsNotCreated, c.Reason, c.Message)
				return
			}
		}
	}
	v.blameFailedCreate(row, o)
}

// blameFailedCreate finds the cause for an object with too few pods in the newest
// event.
func (v *view) blameFailedCreate(row *health.Resource, o metav1.Object) {
	for _, event := range v.events(o.GetNamespace(), o.GetUID(), warnings) {
		if event.Reason == "FailedCreate" {
			blameItself(row, health.RankCreate, health.ProblemPodsNotCreated, event.Reason, event.Message)
			return
		}
	}
}

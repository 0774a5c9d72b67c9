package resources

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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
			if rows[i].Current && !rows[i].Old && rows[i].Status != statusCompleted {
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

// podSet is a ReplicaSet or a ReplicationController, with what their owners' rows
// need of it.
type podSet struct {
	object interface {
		metav1.Object
		runtime.Object
	}
	wanted  *int32
	exist   int32
	rollout string // the number that the owner's controller gave, "" for none
}

// replicaSetRows returns the rows of the ReplicaSets of an owner and their pods.
func (v *view) replicaSetRows(k *kind, o owner) []health.Resource {
	var sets []podSet
	for _, set := range ownedBy[*appsv1.ReplicaSet](v, setsResource, o.object.GetNamespace(), o.object.GetUID()) {
		sets = append(sets, podSet{set, set.Spec.Replicas, set.Status.Replicas, set.Annotations[revisionAnnotation]})
	}
	return v.setRows(k, o, sets, o.object.GetAnnotations()[revisionAnnotation])
}

// replicationControllerRows returns the rows of the ReplicationControllers of an
// owner and their pods.
func (v *view) replicationControllerRows(k *kind, o owner) []health.Resource {
	var sets []podSet
	for _, c := range ownedBy[*corev1.ReplicationController](v, controllersResource, o.object.GetNamespace(), o.object.GetUID()) {
		sets = append(sets, podSet{c, c.Spec.Replicas, c.Status.Replicas, c.Annotations[latestVersionAnnotation]})
	}
	latest := ""
	if config, ok := o.object.(*unstructured.Unstructured); ok {
		if n, known := integer(config, "status", "latestVersion"); known {
			latest = strconv.FormatInt(n, 10)
		}
	}
	return v.setRows(k, o, sets, latest)
}

// setRows returns the rows of an owner's sets and their pods, the newest first,
// without sets that are only kept for a rollback. Rollout is the owner's number.
func (v *view) setRows(k *kind, o owner, sets []podSet, rollout string) []health.Resource {
	sets = slices.DeleteFunc(sets, func(s podSet) bool {
		return s.wanted != nil && *s.wanted == 0 && s.exist == 0 && !s.newest(rollout)
	})
	slices.SortFunc(sets, func(a, b podSet) int {
		created := b.object.GetCreationTimestamp()
		return cmp.Or(cmp.Compare(rank(a.newest(rollout)), rank(b.newest(rollout))),
			created.Compare(a.object.GetCreationTimestamp().Time), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	o.row.Revision = rolloutNumber(rollout)
	var rows []health.Resource
	for _, set := range sets {
		rows = append(rows, v.assess(k, nil, k.dependentRow(set.object, o.key), set.object))
		row := &rows[len(rows)-1]
		row.Old, row.Revision = !set.newest(rollout), rolloutNumber(set.rollout)
		if !row.Old && int(set.exist) < row.Total {
			v.blameSet(row, set.object)
		}
		rows = append(rows, v.dependents(owner{kind: k, object: set.object, row: row, key: row.Key(), old: row.Old})...)
	}
	return rows
}

// rank sorts true before false.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// newest reports whether the set belongs to its owner's rollout. The owner's
// controller numbers both; without numbers each set counts.
func (s podSet) newest(rollout string) bool {
	return rollout == "" || s.rollout == "" || s.rollout == rollout
}

// rolloutNumber returns the number of a rollout, 0 for none.
func rolloutNumber(rollout string) int {
	n, err := strconv.Atoi(rollout)
	if err != nil {
		return 0
	}
	return n
}

// oneGeneration is for kinds whose pods do not say which generation they are of.
func oneGeneration(metav1.Object) generation { return generation{} }

func statefulSetGeneration(o metav1.Object) generation {
	set, ok := o.(*unstructured.Unstructured)
	if !ok || keepsOldPods(set) {
		return generation{} // old pods are there to stay
	}
	revision, _, _ := unstructured.NestedString(set.Object, "status", "updateRevision")
	return generation{appsv1.ControllerRevisionHashLabelKey, revision}
}

func daemonSetGeneration(o metav1.Object) generation {
	if set, ok := o.(*unstructured.Unstructured); ok && keepsOldPods(set) {
		return generation{} // old pods are there to stay
	}
	return generation{templateGenerationLabel, o.GetAnnotations()[appsv1.DeprecatedTemplateGeneration]}
}

// blameNothing is for kinds that do not say why dependents are missing.
func blameNothing(*view, *health.Resource, metav1.Object) {}

// blameSet finds the cause for a ReplicaSet or ReplicationController with too few
// pods: its own condition, otherwise the newest event.
func (v *view) blameSet(row *health.Resource, o metav1.Object) {
	if object, ok := o.(runtime.Object); ok {
		if set, err := asUnstructured(object, *row); err == nil {
			all := conditionsOf(field(set, "status", "conditions"))
			if c := all.get(string(appsv1.ReplicaSetReplicaFailure)); c.is(corev1.ConditionTrue) {
				blameItself(row, health.RankCreate, health.ProblemPodsNotCreated, c.reason, c.message)
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

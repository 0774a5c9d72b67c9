package resources

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail/health"
)

// kind is a row of the table in kindtable.go: what the package knows about a kind
// of objects. No field is left out.
type kind struct {
	schema.GroupVersionKind
	// resource is the plural name that the API server uses in paths.
	resource string
	watching watching

	// events are the field selectors of the events that explain the objects.
	events []string
	// owns lists the kinds of the dependents, in the order of their rows.
	owns []*kind
	// pods says whether the objects run pods, and what happens to a failed one.
	pods podPolicy

	// judge returns the status that follows from the object's own fields.
	judge func(*unstructured.Unstructured) (judgement, error)
	// helm3 reports whether Helm 3 counts an object as ready with --wait. It is
	// given the number of ready pods of the newest generation.
	helm3 func(object *unstructured.Unstructured, readyPods int) bool
	// count returns how many replicas are ready, how many of these are of the
	// newest generation, and how many are wanted; 0 of 0 if the kind has none.
	count func(*unstructured.Unstructured) (ready, updated, total int)
	// generation returns the label that marks the pods of the newest generation.
	generation func(metav1.Object) generation

	// complete adds to the row of an object what its dependents and events say,
	// and returns their rows.
	complete func(*view, owner) []health.Resource
	// dependents returns the rows of the objects of this kind that an owner has,
	// each followed by the rows of its own dependents.
	dependents func(*view, *kind, owner) []health.Resource

	// blameShortage finds the cause when an object has fewer dependents than it
	// should have replicas.
	blameShortage func(*view, *health.Resource, metav1.Object)
	// unready is the problem of an object that is making progress and has no
	// other cause.
	unready health.Problem
	// warn sets the cause of an object that is ready but lacks something.
	warn func(*health.Resource, runtime.Object)
}

// podPolicy decides what happens to a failed pod.
type podPolicy string

const (
	// noPods is for kinds that run no pods.
	noPods podPolicy = "none"
	// podsReplaced is for kinds that replace a failed pod. They seldom wait for
	// that pod.
	podsReplaced podPolicy = "replaced"
	// podsKept is for kinds that end when their pods end.
	podsKept podPolicy = "kept"
)

// generation is the label by which an owner marks its pods, and its value on the
// newest ones; "" if the generations cannot be distinguished.
type generation struct{ label, newest string }

// older reports whether labels are those of a pod of an older generation.
func (g generation) older(labels map[string]string) bool {
	return g.newest != "" && labels[g.label] != "" && labels[g.label] != g.newest
}

// owner is an object whose dependents get rows.
type owner struct {
	*kind
	object metav1.Object
	row    *health.Resource
	key    string // of the row
	// old means that the object is of an older generation, and so are its dependents.
	old bool
}

// gvr returns the resource that the kind is watched as.
func (k *kind) gvr() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.resource)
}

// in returns the place of the kind's objects in a namespace.
func (k *kind) in(namespace string) place {
	return place{resource: k.gvr(), namespace: namespace}
}

// dependentRow returns a row that only names an object and its owner's row.
func (k *kind) dependentRow(o metav1.Object, owner string) health.Resource {
	return health.Resource{Kind: k.Kind, APIVersion: k.GroupVersion().String(), Namespace: o.GetNamespace(), Name: o.GetName(), Owner: owner}
}

// kindOf returns the row of the table for a resource of any version.
func kindOf(resource schema.GroupResource) *kind {
	for _, k := range kinds {
		if k.resource == resource.Resource && k.Group == resource.Group {
			return k
		}
	}
	if builtIn(resource.Group) {
		return otherKind
	}
	return customKind
}

// builtIn reports whether Kubernetes itself has the API group.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// mappedKind returns the row for a kind that the API server serves as a resource.
// A custom kind with the name of a built-in one, such as OpenKruise's StatefulSet
// or Volcano's Job, shares those fields that do not depend on the API group.
func mappedKind(gvk schema.GroupVersionKind, resource schema.GroupResource) *kind {
	k := kindOf(resource)
	if k != customKind {
		return k
	}
	for _, namesake := range kinds {
		if namesake.Kind == gvk.Kind {
			like := *customKind
			like.generation, like.unready = namesake.generation, namesake.unready
			return &like
		}
	}
	return k
}

// ownedBy returns the objects of a kind in the namespace that are owned by uid.
// It returns none if they cannot be read; missing says so.
func ownedBy[T any](v *view, resource schema.GroupVersionResource, namespace string, uid types.UID) []T {
	objects, err := v.lister.indexer(place{resource: resource, namespace: namespace})
	if err != nil {
		return nil
	}
	list, err := objects.ByIndex(ownerIndex, string(uid))
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

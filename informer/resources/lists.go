package resources

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The kinds of which the objects are many and are found by their owners. They
// come as protobuf and are kept without what no row needs.
var (
	podsResource   = corev1.SchemeGroupVersion.WithResource("pods")
	claimsResource = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	eventsResource = corev1.SchemeGroupVersion.WithResource("events")
	setsResource   = appsv1.SchemeGroupVersion.WithResource("replicasets")
	jobsResource   = batchv1.SchemeGroupVersion.WithResource("jobs")
)

// The events that matter: warnings, and what is said of claims, of which the
// most telling is no warning.
const (
	warnings    = "type!=" + corev1.EventTypeNormal
	claimEvents = "involvedObject.kind=PersistentVolumeClaim"
)

// place is what one watch covers: a kind in a namespace, or a kind of the
// whole cluster.
type place struct {
	resource  schema.GroupVersionResource
	namespace string
	// fields selects some of the objects, "" all of them.
	fields string
}

// lists is how the objects of a place are asked for.
type lists struct {
	example runtime.Object
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func (t *Tracker) lists(p place) lists {
	switch p.resource {
	case podsResource:
		return listsOf(&corev1.Pod{}, p, t.clients.Core.Pods(p.namespace))
	case claimsResource:
		return listsOf(&corev1.PersistentVolumeClaim{}, p, t.clients.Core.PersistentVolumeClaims(p.namespace))
	case eventsResource:
		return listsOf(&corev1.Event{}, p, t.clients.Core.Events(p.namespace))
	case setsResource:
		return listsOf(&appsv1.ReplicaSet{}, p, t.clients.Apps.ReplicaSets(p.namespace))
	case jobsResource:
		return listsOf(&batchv1.Job{}, p, t.clients.Batch.Jobs(p.namespace))
	}
	if withoutData(p.resource.GroupResource()) {
		return listsOf(&metav1.PartialObjectMetadata{}, p, t.clients.Metadata.Resource(p.resource).Namespace(p.namespace))
	}
	return listsOf(&unstructured.Unstructured{}, p, t.clients.Dynamic.Resource(p.resource).Namespace(p.namespace))
}

// listsOf makes lists of a client of any kind.
func listsOf[L runtime.Object](example runtime.Object, p place, client interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}) lists {
	return lists{
		example: example,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = p.fields
			list, err := client.List(ctx, o)
			if err != nil {
				return nil, err
			}
			return list, nil
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = p.fields
			return client.Watch(ctx, o)
		},
	}
}

// The names of the indexes.
const (
	byOwner   = "owner"
	bySubject = "subject"
)

// indexers of the objects that are found by others: by the UIDs of their
// owners, and events by the UID of what they are about.
func (p place) indexers() cache.Indexers {
	switch p.resource {
	case podsResource, setsResource, jobsResource, claimsResource:
		return cache.Indexers{byOwner: func(o any) ([]string, error) {
			var owners []string
			if object, ok := o.(metav1.Object); ok {
				for _, owner := range object.GetOwnerReferences() {
					owners = append(owners, string(owner.UID))
				}
			}
			return owners, nil
		}}
	case eventsResource:
		return cache.Indexers{bySubject: func(o any) ([]string, error) {
			if event, ok := o.(*corev1.Event); ok {
				return []string{string(event.InvolvedObject.UID)}, nil
			}
			return nil, nil
		}}
	}
	return cache.Indexers{}
}

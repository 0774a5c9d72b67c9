package resources

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// place is what one watch covers: a kind in a namespace, or a kind in the
// whole cluster.
type place struct {
	resource  schema.GroupVersionResource
	namespace string
	// fields is a field selector, "" for all objects.
	fields string
}

// watching says how the objects of a kind are requested and kept in memory.
type watching struct {
	// example is an empty object of the type that the client returns.
	example runtime.Object
	// client returns the requests for the objects of a place.
	client func(Clients, place) listWatch
	// strip drops what no row needs, which is often most of an object. It is
	// idempotent.
	strip cache.TransformFunc
	// index finds objects by their owner or subject.
	index cache.Indexers
}

// listWatch holds the two requests of a watch.
type listWatch struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// listerWatcher is the part of a client that a watch needs. L is its list type.
type listerWatcher[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// watchingOf returns how objects of type T are watched with a client.
func watchingOf[T, L runtime.Object](example T, client func(Clients, place) listerWatcher[L], strip func(T) T, index cache.Indexers) watching {
	return watching{
		example: example,
		client: func(c Clients, p place) listWatch {
			requests := client(c, p)
			return listWatch{
				list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					o.FieldSelector = p.fields
					list, err := requests.List(ctx, o)
					if err != nil {
						return nil, err // A typed nil would pass for a list.
					}
					return list, nil
				},
				watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					o.FieldSelector = p.fields
					return requests.Watch(ctx, o)
				},
			}
		},
		strip: func(o any) (any, error) {
			if object, ok := o.(T); ok {
				return strip(object), nil
			}
			return o, nil
		},
		index: index,
	}
}

var (
	// wholeObjects watches objects as they are, for kinds without a Go type and
	// for versions of a kind other than the one in the table.
	wholeObjects = watchingOf(&unstructured.Unstructured{}, func(c Clients, p place) listerWatcher[*unstructured.UnstructuredList] {
		return c.Dynamic.Resource(p.resource).Namespace(p.namespace)
	}, stripWhole, notIndexed)

	// metadataOnly watches kinds whose objects are big, secret or both, and of
	// which only the existence matters here.
	metadataOnly = watchingOf(&metav1.PartialObjectMetadata{}, func(c Clients, p place) listerWatcher[*metav1.PartialObjectMetadataList] {
		return c.Metadata.Resource(p.resource).Namespace(p.namespace)
	}, stripMetadata, notIndexed)
)

// The names of the indexes.
const (
	ownerIndex   = "owner"
	subjectIndex = "subject"
)

var (
	// notIndexed is for objects that are found by name only.
	notIndexed = cache.Indexers{}

	// byOwner finds objects by the UIDs of their owners.
	byOwner = cache.Indexers{ownerIndex: func(o any) ([]string, error) {
		var owners []string
		if object, ok := o.(metav1.Object); ok {
			for _, owner := range object.GetOwnerReferences() {
				owners = append(owners, string(owner.UID))
			}
		}
		return owners, nil
	}}

	// bySubject finds events by the UID of the object that they are about.
	bySubject = cache.Indexers{subjectIndex: func(o any) ([]string, error) {
		if event, ok := o.(*corev1.Event); ok {
			return []string{string(event.InvolvedObject.UID)}, nil
		}
		return nil, nil
	}}
)

// watching returns how the objects of the place are requested and kept.
func (p place) watching() watching {
	k := kindOf(p.resource.GroupResource())
	if k.Version != p.resource.Version {
		return wholeObjects
	}
	return k.watching
}

// below returns the places that hold the dependents of the objects here, and
// the events that explain them.
func (p place) below() []place {
	if p.namespace == "" {
		return nil
	}
	k := kindOf(p.resource.GroupResource())
	selectors := slices.Clone(k.events)
	var places []place
	for _, dependent := range k.owns {
		selectors = append(selectors, dependent.events...)
		places = append(places, dependent.in(p.namespace))
	}
	slices.Sort(selectors)
	for _, fields := range slices.Compact(selectors) {
		places = append(places, place{eventsResource, p.namespace, fields})
	}
	return places
}

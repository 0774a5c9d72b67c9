package resources

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// bigLister holds 250 Deployments of 8 pods and 250 ConfigMaps.
type bigLister struct {
	objects map[*target]runtime.Object
	places  map[place]cache.Indexer
}

func (s *bigLister) object(t *target) (runtime.Object, error) { return s.objects[t], nil }
func (s *bigLister) finalState(*target) runtime.Object        { return nil }

func (s *bigLister) endOf(*target, time.Time) (End, string) { return EndUnknown, "" }

func (s *bigLister) indexer(p place) (cache.Indexer, error) {
	if objects := s.places[p]; objects != nil {
		return objects, nil
	}
	return nil, errNotYet
}

func newBigLister(b *testing.B) (*bigLister, []*target) {
	s := &bigLister{objects: map[*target]runtime.Object{}, places: map[place]cache.Indexer{}}
	for _, p := range []place{
		{resource: podsResource, namespace: "ns"}, {resource: setsResource, namespace: "ns"}, {eventsResource, "ns", warnings},
	} {
		s.places[p] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, p.watching().index)
	}
	add := func(r place, o any) {
		if err := s.places[r].Add(o); err != nil {
			b.Fatal(err)
		}
	}
	mapping := func(kind string, resource string, version string) *meta.RESTMapping {
		gv := appsv1.SchemeGroupVersion
		if version == "v1" {
			gv = corev1.SchemeGroupVersion
		}
		return &meta.RESTMapping{Resource: gv.WithResource(resource), GroupVersionKind: gv.WithKind(kind), Scope: meta.RESTScopeNamespace}
	}
	owned := func(name, owner string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: "1",
			OwnerReferences: []metav1.OwnerReference{{UID: types.UID(owner)}},
		}
	}
	var targets []*target
	for i := range 250 {
		name := fmt.Sprintf("app-%d", i)
		for _, m := range []*meta.RESTMapping{mapping("Deployment", "deployments", "apps/v1"), mapping("ConfigMap", "configmaps", "v1")} {
			t := &target{object: object{gvk: m.GroupVersionKind, namespace: "ns", name: name}}
			o := &unstructured.Unstructured{}
			if err := o.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"ns","name":%q,"uid":"%s-%s","resourceVersion":"1","generation":1},
				"spec":{"replicas":8},"status":{"observedGeneration":1,"replicas":8,"updatedReplicas":8,"readyReplicas":8,"availableReplicas":8,
				"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`,
				m.GroupVersionKind.GroupVersion().String(), m.GroupVersionKind.Kind, name, m.GroupVersionKind.Kind, name)); err != nil {
				b.Fatal(err)
			}
			t.mapTo(m)
			s.objects[t] = o
			targets = append(targets, t)
		}
		replicas := int32(8)
		add(place{resource: setsResource, namespace: "ns"}, &appsv1.ReplicaSet{
			ObjectMeta: owned(name+"-set", "Deployment-"+name), Spec: appsv1.ReplicaSetSpec{Replicas: &replicas}, Status: appsv1.ReplicaSetStatus{Replicas: 8, ReadyReplicas: 8},
		})
		for n := range 8 {
			add(place{resource: podsResource, namespace: "ns"}, bigPod(owned(fmt.Sprintf("%s-set-%d", name, n), name+"-set")))
		}
	}
	return s, targets
}

func bigPod(m metav1.ObjectMeta) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: m,
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
}

// BenchmarkRows measures the work after each change: the rows of 500 objects, 250
// ReplicaSets and 2,000 pods. "again" reuses the known states of the objects,
// "first" computes them without that memory, and the last one adds a viewer whose
// permissions are known.
func BenchmarkRows(b *testing.B) {
	s, targets := newBigLister(b)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if rows := newView(&decoder.Record{}, s).rows(targets); len(rows) != 2750 {
				b.Fatalf("%d rows", len(rows))
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		v := newView(&decoder.Record{}, s)
		b.ReportAllocs()
		for b.Loop() {
			if rows := v.rows(targets); len(rows) != 2750 {
				b.Fatalf("%d rows", len(rows))
			}
		}
	})
	b.Run("again, for a viewer", func(b *testing.B) {
		g := guarded(s, func(context.Context, helmtrail.Right) error { return nil })
		v := newView(&decoder.Record{}, g)
		b.ReportAllocs()
		for b.Loop() {
			g.review(b.Context(), targets)
			if rows := v.rows(targets); len(rows) != 2750 {
				b.Fatalf("%d rows", len(rows))
			}
		}
	})
}

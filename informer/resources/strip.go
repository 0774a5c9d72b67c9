package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What the controllers write of generations.
const (
	// k8s.io/kubernetes/pkg/controller/deployment/util: on a Deployment and on
	// its ReplicaSets, of which the newest has the same number.
	revisionAnnotation = "deployment.kubernetes.io/revision"
	// k8s.io/api/apps/v1: the Pod of a DaemonSet has the generation of the
	// template as a label, the DaemonSet as an annotation.
	templateGenerationLabel = "pod-template-generation"
)

// strip drops what no row needs and what is often most of an object. What it
// has stripped once it leaves as it is.
func strip(o any) (any, error) {
	switch object := o.(type) {
	case *corev1.Pod:
		return stripPod(object), nil
	case *appsv1.ReplicaSet:
		return &appsv1.ReplicaSet{
			ObjectMeta: stripMeta(&object.ObjectMeta, revisionAnnotation),
			Spec:       appsv1.ReplicaSetSpec{Replicas: object.Spec.Replicas},
			Status:     object.Status,
		}, nil
	case *batchv1.Job:
		spec := object.Spec
		spec.Template, spec.Selector = corev1.PodTemplateSpec{}, nil
		return &batchv1.Job{ObjectMeta: stripMeta(&object.ObjectMeta), Spec: spec, Status: object.Status}, nil
	case *corev1.PersistentVolumeClaim:
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: stripMeta(&object.ObjectMeta),
			Status:     corev1.PersistentVolumeClaimStatus{Phase: object.Status.Phase},
		}, nil
	case *corev1.Event:
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion, CreationTimestamp: object.CreationTimestamp},
			InvolvedObject: corev1.ObjectReference{UID: object.InvolvedObject.UID, FieldPath: object.InvolvedObject.FieldPath},
			Reason:         object.Reason, Message: object.Message, Type: object.Type,
			LastTimestamp: object.LastTimestamp, EventTime: object.EventTime, Series: object.Series,
		}, nil
	case *unstructured.Unstructured:
		object.SetManagedFields(nil)
		for _, field := range [][]string{
			{"metadata", "annotations", corev1.LastAppliedConfigAnnotation},
			{"spec", "template"}, // of a workload's pods
			{"spec", "versions"}, // the schemas of a CustomResourceDefinition
		} {
			unstructured.RemoveNestedField(object.Object, field...)
		}
	case metav1.Object:
		object.SetManagedFields(nil)
	}
	return o, nil
}

// stripMeta keeps what names an object, its age, its owners and what delays its
// end, and some of its annotations.
func stripMeta(m *metav1.ObjectMeta, annotations ...string) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences,
		Finalizers: m.Finalizers,
	}
	kept.Annotations = pick(m.Annotations, annotations)
	return kept
}

func pick(all map[string]string, keys []string) map[string]string {
	var some map[string]string
	for _, key := range keys {
		if value, ok := all[key]; ok {
			if some == nil {
				some = map[string]string{}
			}
			some[key] = value
		}
	}
	return some
}

func stripPod(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{
		ObjectMeta: stripMeta(&pod.ObjectMeta),
		Spec: corev1.PodSpec{
			RestartPolicy:  pod.Spec.RestartPolicy,
			Containers:     stripContainers(pod.Spec.Containers),
			InitContainers: stripContainers(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message, Conditions: pod.Status.Conditions,
			ContainerStatuses:     stripStatuses(pod.Status.ContainerStatuses),
			InitContainerStatuses: stripStatuses(pod.Status.InitContainerStatuses),
		},
	}
	kept.Labels = pick(pod.Labels, []string{appsv1.ControllerRevisionHashLabelKey, templateGenerationLabel})
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			kept.Spec.Volumes = append(kept.Spec.Volumes, volume)
		}
	}
	return kept
}

func stripContainers(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for _, c := range containers {
		kept = append(kept, corev1.Container{Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy})
	}
	return kept
}

func stripStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range statuses {
		kept = append(kept, corev1.ContainerStatus{
			Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, RestartCount: s.RestartCount, Started: s.Started,
		})
	}
	return kept
}

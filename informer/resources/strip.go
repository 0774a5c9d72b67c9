package resources

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// How controllers mark generations.
const (
	// revisionAnnotation is on a Deployment and on its ReplicaSets; the newest
	// one has the Deployment's number (k8s.io/kubernetes/pkg/controller/deployment/util).
	revisionAnnotation = "deployment.kubernetes.io/revision"
	// latestVersionAnnotation is on the ReplicationControllers of a
	// DeploymentConfig, whose status has the newest one's number
	// (github.com/openshift/api/apps/v1).
	latestVersionAnnotation = "openshift.io/deployment-config.latest-version"
	// templateGenerationLabel is on the pods of a DaemonSet, which has the newest
	// value as an annotation (k8s.io/api/apps/v1).
	templateGenerationLabel = "pod-template-generation"
)

func stripReplicaSet(set *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: stripMeta(&set.ObjectMeta, revisionAnnotation),
		Spec:       appsv1.ReplicaSetSpec{Replicas: set.Spec.Replicas},
		Status:     set.Status,
	}
}

func stripReplicationController(c *corev1.ReplicationController) *corev1.ReplicationController {
	return &corev1.ReplicationController{
		ObjectMeta: stripMeta(&c.ObjectMeta, latestVersionAnnotation),
		Spec:       corev1.ReplicationControllerSpec{Replicas: c.Spec.Replicas},
		Status:     c.Status,
	}
}

func stripJob(job *batchv1.Job) *batchv1.Job {
	spec := job.Spec
	spec.Template, spec.Selector = corev1.PodTemplateSpec{}, nil
	return &batchv1.Job{ObjectMeta: stripMeta(&job.ObjectMeta), Spec: spec, Status: job.Status}
}

func stripClaim(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: stripMeta(&claim.ObjectMeta),
		Status:     corev1.PersistentVolumeClaimStatus{Phase: claim.Status.Phase},
	}
}

func stripEvent(event *corev1.Event) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: event.Namespace, Name: event.Name, UID: event.UID,
			ResourceVersion: event.ResourceVersion, CreationTimestamp: event.CreationTimestamp,
		},
		InvolvedObject: corev1.ObjectReference{UID: event.InvolvedObject.UID, FieldPath: event.InvolvedObject.FieldPath},
		Reason:         event.Reason, Message: event.Message, Type: event.Type,
		LastTimestamp: event.LastTimestamp, EventTime: event.EventTime, Series: event.Series,
	}
}

// stripWhole changes the object itself.
func stripWhole(object *unstructured.Unstructured) *unstructured.Unstructured {
	object.SetManagedFields(nil)
	for _, field := range [][]string{
		{"metadata", "annotations", corev1.LastAppliedConfigAnnotation},
		{"spec", "template"}, // of a workload's pods
		{"spec", "versions"}, // the schemas of a CustomResourceDefinition
	} {
		unstructured.RemoveNestedField(object.Object, field...)
	}
	return object
}

// stripMetadata changes the object itself.
func stripMetadata(object *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	object.SetManagedFields(nil)
	return object
}

// stripMeta keeps an object's identity, age, owners and finalizers, and some of
// its annotations.
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

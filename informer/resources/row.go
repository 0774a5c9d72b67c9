package resources

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/helmtrail/helmtrail/stream"
)

// The words for a row's status.
const (
	statusReady       = "Ready"
	statusCompleted   = "Completed"
	statusProgressing = "Progressing"
	statusFailed      = "Failed"
	statusTerminating = "Terminating"
	statusNotFound    = "NotFound"
	statusUnknown     = "Unknown"
)

// errNotYet means that the watch has not told its objects yet.
var errNotYet = errors.New("its state is not known yet")

// emptyRow names the object and nothing else.
func (o object) emptyRow(clusterScoped bool) stream.Resource {
	row := stream.Resource{Kind: o.kind.Kind, APIVersion: o.kind.GroupVersion().String(), Namespace: o.namespace, Name: o.name, Hook: o.hook}
	if clusterScoped {
		row.Namespace = ""
	}
	return row
}

// unknownRow says why nothing is known.
func unknownRow(row stream.Resource, err error) stream.Resource {
	row.Status, row.Message = statusUnknown, err.Error()
	switch {
	case errors.Is(err, errNotYet):
		row.Reason = "NotYetKnown"
	case meta.IsNoMatchError(err):
		row.Reason, row.Message = "UnknownKind", fmt.Sprintf("the cluster has no kind %s of %s", row.Kind, row.APIVersion)
	case apierrors.IsForbidden(err):
		row.Reason = "Forbidden"
	default:
		row.Reason = string(apierrors.ReasonForError(err))
	}
	return row
}

// rowOf says how an object is, which is nil if there is none.
func rowOf(row stream.Resource, found runtime.Object) stream.Resource {
	if found == nil {
		row.Status, row.Reason, row.Message = statusNotFound, "NotFound", "the object does not exist"
		return row
	}
	object, err := asUnstructured(found, row)
	if err != nil {
		return unknownRow(row, err)
	}
	result, err := status.Compute(object)
	if err != nil {
		return unknownRow(row, fmt.Errorf("its status cannot be understood: %w", err))
	}
	row.Ready, row.Total = replicas(object)
	row.Current = result.Status == status.CurrentStatus
	row.Status = word(object, result.Status)
	if !row.Current {
		row.Message = result.Message
		if len(result.Conditions) > 0 {
			row.Reason = result.Conditions[0].Reason
		}
	}
	return row
}

// asUnstructured gives metadata without data the form that kstatus reads.
func asUnstructured(found runtime.Object, row stream.Resource) (*unstructured.Unstructured, error) {
	switch o := found.(type) {
	case *unstructured.Unstructured:
		return o, nil
	case *metav1.PartialObjectMetadata:
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetAPIVersion(row.APIVersion)
		object.SetKind(row.Kind)
		return object, nil
	}
	return nil, fmt.Errorf("unexpected object %T", found)
}

// word is kstatus' status as people say it. A Job is current while it runs;
// only its end makes a difference.
func word(object *unstructured.Unstructured, s status.Status) string {
	switch s {
	case status.CurrentStatus:
		if object.GroupVersionKind().GroupKind() == jobKind {
			if done, total := replicas(object); done < total {
				return statusProgressing
			}
			return statusCompleted
		}
		return statusReady
	case status.InProgressStatus:
		return statusProgressing
	case status.FailedStatus:
		return statusFailed
	case status.TerminatingStatus:
		return statusTerminating
	case status.NotFoundStatus:
		return statusNotFound
	}
	return statusUnknown
}

var jobKind = schema.GroupKind{Group: "batch", Kind: "Job"}

// replicas counts what a workload has ready and what it should have; 0 of 0
// for other kinds.
func replicas(object *unstructured.Unstructured) (ready, total int) {
	kind := object.GroupVersionKind().GroupKind()
	switch {
	case kind == jobKind:
		return count(object, 0, "status", "succeeded"), count(object, 1, "spec", "completions")
	case kind.Group != "apps":
		return 0, 0
	case kind.Kind == "Deployment", kind.Kind == "StatefulSet", kind.Kind == "ReplicaSet":
		return count(object, 0, "status", "readyReplicas"), count(object, 1, "spec", "replicas")
	case kind.Kind == "DaemonSet":
		return count(object, 0, "status", "numberReady"), count(object, 0, "status", "desiredNumberScheduled")
	}
	return 0, 0
}

func count(object *unstructured.Unstructured, otherwise int, field ...string) int {
	n, found, err := unstructured.NestedInt64(object.Object, field...)
	if err != nil || !found {
		return otherwise
	}
	return int(n)
}

// withoutData reports whether a kind's objects are big, secret or both, while
// nothing but their existence matters here.
func withoutData(r schema.GroupResource) bool {
	return r.Group == "" && (r.Resource == "secrets" || r.Resource == "configmaps")
}

package resources

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	statusNotFound    = stream.StatusNotFound
	statusUnknown     = stream.StatusUnknown
	statusForbidden   = stream.StatusForbidden
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
	case forbidden(err):
		row.Status, row.Reason = statusForbidden, "Forbidden"
	default:
		row.Reason = string(apierrors.ReasonForError(err))
	}
	return row
}

// forbidden tells whether the viewer, or helmtrail itself, lacks a right.
func forbidden(err error) bool {
	_, denied := errors.AsType[*stream.ForbiddenError](err)
	return denied || apierrors.IsForbidden(err)
}

func missingRow(row stream.Resource) stream.Resource {
	row.Status, row.Reason, row.Message = statusNotFound, "NotFound", "the object does not exist"
	return row
}

// rowOf says how an object is by itself.
func rowOf(row stream.Resource, found runtime.Object) stream.Resource {
	object, err := asUnstructured(found, row)
	if err != nil {
		return unknownRow(row, err)
	}
	result, err := status.Compute(object)
	if err != nil {
		return unknownRow(row, fmt.Errorf("its status cannot be understood: %w", err))
	}
	row.Ready, row.Updated, row.Total = replicas(object)
	row.Current = result.Status == status.CurrentStatus
	row.Status = word(object, result.Status)
	if !row.Current {
		row.Message = result.Message
		if len(result.Conditions) > 0 {
			row.Reason = result.Conditions[0].Reason
			if row.Reason == "ProgressDeadlineExceeded" {
				// Kubernetes' own sentence names the ReplicaSet.
				row.Message = result.Conditions[0].Message
			}
		}
	}
	return row
}

// asUnstructured gives an object the form that kstatus reads.
func asUnstructured(found runtime.Object, row stream.Resource) (*unstructured.Unstructured, error) {
	if o, ok := found.(*unstructured.Unstructured); ok {
		return o, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(found)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(row.APIVersion)
	object.SetKind(row.Kind)
	return object, nil
}

// word is kstatus' status as people say it. A Job is current while it runs;
// only its end makes a difference.
func word(object *unstructured.Unstructured, s status.Status) string {
	switch s {
	case status.CurrentStatus:
		if object.GroupVersionKind().GroupKind() == jobKind {
			if done, _, total := replicas(object); done < total {
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

// replicas counts what a workload has ready and has at all of its newest
// generation, and what it should have; 0 of 0 for other kinds.
func replicas(object *unstructured.Unstructured) (ready, updated, total int) {
	kind := object.GroupVersionKind().GroupKind()
	number := func(otherwise int, field ...string) int { return count(object, otherwise, field...) }
	var all, allReady int
	switch {
	case kind == jobKind:
		return number(0, "status", "succeeded"), 0, number(1, "spec", "completions")
	case kind.Group != "apps":
		return 0, 0, 0
	case kind.Kind == "ReplicaSet":
		return number(0, "status", "readyReplicas"), 0, number(1, "spec", "replicas")
	case kind.Kind == "Deployment", kind.Kind == "StatefulSet":
		total = number(1, "spec", "replicas")
		updated = number(0, "status", "updatedReplicas")
		all, allReady = number(0, "status", "replicas"), number(0, "status", "readyReplicas")
	case kind.Kind == "DaemonSet":
		total = number(0, "status", "desiredNumberScheduled")
		updated = number(0, "status", "updatedNumberScheduled")
		all, allReady = number(0, "status", "currentNumberScheduled"), number(0, "status", "numberReady")
	}
	// Which of them are ready is not said. At least these are: all that are not
	// ready may be among the newest. The pods themselves tell it exactly.
	return max(0, updated-max(0, all-allReady)), updated, total
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

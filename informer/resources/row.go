package resources

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
)

// The values of a row's status. A pod has more, see podStatus.
const (
	statusReady       = "Ready"
	statusCompleted   = "Completed"
	statusProgressing = "Progressing"
	statusFailed      = "Failed"
	statusWarning     = "Warning"
	statusTerminating = "Terminating"
	statusNotFound    = health.StatusNotFound
	statusUnknown     = health.StatusUnknown
	statusForbidden   = health.StatusForbidden
)

// errNotYet is returned while a watch has not delivered its objects.
var errNotYet = errors.New("its state is not known yet")

// emptyRow returns a row that only names the object.
func (o object) emptyRow(clusterScoped bool) health.Resource {
	row := health.Resource{Kind: o.gvk.Kind, APIVersion: o.gvk.GroupVersion().String(), Namespace: o.namespace, Name: o.name, Hook: o.hook}
	if clusterScoped {
		row.Namespace = ""
	}
	return row
}

// unknownRow completes the row of an object that could not be read.
func unknownRow(row health.Resource, err error) health.Resource {
	row.State, row.Status, row.Message = health.StateUnknown, statusUnknown, err.Error()
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

// forbidden reports whether the viewer, or helmtrail itself, lacks a right.
func forbidden(err error) bool {
	_, denied := errors.AsType[*helmtrail.ForbiddenError](err)
	return denied || apierrors.IsForbidden(err)
}

func missingRow(row health.Resource) health.Resource {
	row.Status, row.Reason, row.Message = statusNotFound, "NotFound", "the object does not exist"
	return row
}

// assessmentOf completes a row with what follows from the object's own fields.
func assessmentOf(k *kind, row health.Resource, found runtime.Object) assessment {
	object, err := asUnstructured(found, row)
	if err != nil {
		return assessment{row: unknownRow(row, err)}
	}
	j, err := k.judge(object)
	if err != nil {
		return assessment{row: unknownRow(row, fmt.Errorf("its status cannot be understood: %w", err))}
	}
	row.Ready, row.Updated, row.Total = k.count(object)
	row.State, row.Status, row.Current, row.Reason, row.Message = j.state, j.status, j.current(), j.reason, j.message
	return assessment{row: row, assumed: j.assumed}
}

// stateOf returns the state of a completed row. What completes a row may change its
// status after the object itself was judged.
func stateOf(row *health.Resource) health.State {
	switch {
	case row.Current && row.State == health.StateWarning:
		return health.StateWarning
	case row.Current:
		return health.StateReady
	case row.Status == statusUnknown || row.Status == statusForbidden:
		return health.StateUnknown
	case row.Status == statusFailed || row.State == health.StateFailed:
		return health.StateFailed
	case row.State == health.StateUnknown:
		return health.StateUnknown
	}
	return health.StateProgressing
}

// asUnstructured converts an object to the form that kstatus reads.
func asUnstructured(found runtime.Object, row health.Resource) (*unstructured.Unstructured, error) {
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

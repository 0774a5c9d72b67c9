package resources

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// judgement is the status of an object according to its own fields.
type judgement struct {
	// status is one of the values of a row's status.
	status string
	// current means that there is nothing to wait for.
	current bool
	// reason and message come from the condition behind the status; "" if current.
	reason, message string
}

// judgeByKstatus leaves the judgement to kstatus, which Helm 4 waits with.
func judgeByKstatus(object *unstructured.Unstructured) (judgement, error) {
	result, err := status.Compute(object)
	if err != nil {
		return judgement{}, err
	}
	j := judgement{status: statusOfKstatus(result.Status), current: result.Status == status.CurrentStatus}
	if j.current {
		return j, nil
	}
	j.message = result.Message
	if len(result.Conditions) > 0 {
		j.reason = result.Conditions[0].Reason
		if j.reason == reasonDeadline {
			// Kubernetes' own sentence names the ReplicaSet.
			j.message = result.Conditions[0].Message
		}
	}
	return j, nil
}

// reasonDeadline is the reason of a rollout that has made no progress for too
// long (k8s.io/kubernetes/pkg/controller/deployment/util).
const reasonDeadline = "ProgressDeadlineExceeded"

// statusOfKstatus returns the row's status for a status of kstatus.
func statusOfKstatus(s status.Status) string {
	switch s {
	case status.CurrentStatus:
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

// judgeJob distinguishes a running Job from one that has completed; kstatus calls both
// current.
func judgeJob(object *unstructured.Unstructured) (judgement, error) {
	j, err := judgeByKstatus(object)
	if err == nil && j.current {
		j.status = statusCompleted
		if succeeded, _, total := countSucceeded(object); succeeded < total {
			j.status = statusProgressing
		}
	}
	return j, err
}

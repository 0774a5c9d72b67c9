package resources

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/helmtrail/helmtrail/health"
)

// judgement is the status of an object according to its own fields.
type judgement struct {
	state health.State
	// status is one of the values of a row's status.
	status string
	// reason and message come from the condition behind the status.
	reason, message string
	// assumed means that nothing in the object's status says how it is, so that
	// it counts as ready.
	assumed bool
}

// current reports whether the object has reached its desired state.
func (j judgement) current() bool {
	return j.state == health.StateReady || j.state == health.StateWarning
}

// judged returns the judgement of a state, and why.
func judged(state health.State, reason, message string) judgement {
	return judgement{state: state, status: statusOfState[state], reason: reason, message: message}
}

// ready is the judgement of an object with nothing to say.
func ready() judgement { return judged(health.StateReady, "", "") }

// statusOfState holds the row's status for each state.
var statusOfState = map[health.State]string{
	health.StateReady: statusReady, health.StateProgressing: statusProgressing, health.StateFailed: statusFailed,
	health.StateWarning: statusWarning, health.StateUnknown: statusUnknown,
}

// judgeByKstatus leaves the judgement to kstatus, which Helm 4 waits with.
func judgeByKstatus(object *unstructured.Unstructured) (judgement, error) {
	result, err := status.Compute(object)
	if err != nil {
		return judgement{}, err
	}
	state := stateOfKstatus(result.Status)
	if state == health.StateReady {
		return ready(), nil
	}
	j := judged(state, "", result.Message)
	if result.Status == status.TerminatingStatus {
		j.status = statusTerminating
	}
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

// stateOfKstatus returns the state for a status of kstatus.
func stateOfKstatus(s status.Status) health.State {
	switch s {
	case status.CurrentStatus:
		return health.StateReady
	case status.InProgressStatus, status.TerminatingStatus:
		return health.StateProgressing
	case status.FailedStatus:
		return health.StateFailed
	}
	return health.StateUnknown
}

// judgeLifecycle judges an object that is being deleted, or whose controller has
// not seen its newest generation. The rule is kstatus' own, but a number may be
// written as a string, and anything else is skipped.
func judgeLifecycle(object *unstructured.Unstructured) (j judgement, decided bool) {
	if object.GetDeletionTimestamp() != nil {
		j = judged(health.StateProgressing, "", "Resource scheduled for deletion")
		j.status = statusTerminating
		return j, true
	}
	generation, known := integer(object, "metadata", "generation")
	observed, reported := integer(object, "status", "observedGeneration")
	if known && reported && observed != generation {
		return judged(health.StateProgressing, "LatestGenerationNotObserved",
			fmt.Sprintf("generation is %d, but latest observed generation is %d", generation, observed)), true
	}
	return judgement{}, false
}

// judgeAs judges an object by kstatus' rules for another kind with the same fields.
func judgeAs(kind schema.GroupVersionKind) func(*unstructured.Unstructured) (judgement, error) {
	return func(object *unstructured.Unstructured) (judgement, error) {
		like := &unstructured.Unstructured{Object: make(map[string]any, len(object.Object))}
		for key, value := range object.Object {
			like.Object[key] = value
		}
		like.SetGroupVersionKind(kind)
		return judgeByKstatus(like)
	}
}

// judgeJob judges a Job by its conditions. Counting its pods would be wrong: a Job
// may end before all have succeeded (successPolicy), fail before its last retry
// (podFailurePolicy), and wants no number of pods without completions.
func judgeJob(object *unstructured.Unstructured) (judgement, error) {
	all := conditionsOf(field(object, "status", "conditions"))
	complete := all.get(string(batchv1.JobComplete)).is(corev1.ConditionTrue)
	_, expires := integer(object, "spec", "ttlSecondsAfterFinished")
	if j, decided := judgeLifecycle(object); decided && !(complete && expires) {
		return j, nil // one that is removed because it is complete stays complete
	}
	if c := all.firstWith(corev1.ConditionTrue, []string{string(batchv1.JobFailed), string(batchv1.JobFailureTarget)}); c != nil {
		return judged(health.StateFailed, c.reason, c.message), nil
	}
	if complete {
		j := ready()
		j.status = statusCompleted
		return j, nil
	}
	if c := all.get(string(batchv1.JobSuspended)); c.is(corev1.ConditionTrue) {
		return judged(health.StateProgressing, cmp.Or(c.reason, string(batchv1.JobSuspended)), c.message), nil
	}
	return judged(health.StateProgressing, "", ""), nil
}

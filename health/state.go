package health

// State is the state of one object, one of a closed set. A row's Status is the
// word for people; State is what a client branches on.
type State string

const (
	// StateReady is an object that has reached its desired state.
	StateReady State = "ready"
	// StateProgressing is an object that has not reached its desired state and
	// does not say that it has failed. An object that does not exist, or is being
	// deleted, has this state too.
	StateProgressing State = "progressing"
	// StateFailed is an object that reports its own failure. It may recover if
	// something else changes.
	StateFailed State = "failed"
	// StateWarning is an object that is usable and reports a problem in its own
	// status.
	StateWarning State = "warning"
	// StateUnknown is an object whose state could not be determined. The row's
	// reason and message say why.
	StateUnknown State = "unknown"
)

// States lists all states.
var States = []State{StateReady, StateProgressing, StateFailed, StateWarning, StateUnknown}

// HelmVerdict is how the readiness check of Helm's --wait judges an object.
type HelmVerdict string

const (
	// HelmReady means that Helm does not wait for the object, or no longer.
	HelmReady HelmVerdict = "ready"
	// HelmWaits means that Helm waits for the object.
	HelmWaits HelmVerdict = "waits"
	// HelmFails means that Helm fails because of the object.
	HelmFails HelmVerdict = "fails"
	// HelmCannotJudge means that Helm cannot read the object's status, and waits
	// until its timeout.
	HelmCannotJudge HelmVerdict = "cannotJudge"
)

// HelmVerdicts lists all verdicts.
var HelmVerdicts = []HelmVerdict{HelmReady, HelmWaits, HelmFails, HelmCannotJudge}

// HelmWait says how both versions of Helm judge an object with --wait. Neither
// waits for Jobs without --wait-for-jobs, so a Job is judged without it.
type HelmWait struct {
	Helm3 HelmVerdict `json:"helm3"`
	Helm4 HelmVerdict `json:"helm4"`
}

// Disagrees reports whether a version of Helm calls an object ready that is not,
// or waits for one that is.
func (h HelmWait) Disagrees(current bool) bool {
	return (h.Helm3 == HelmReady) != current || (h.Helm4 == HelmReady) != current
}

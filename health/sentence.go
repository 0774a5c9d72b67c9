package health

import (
	"strings"
)

// Problem says what is wrong with an object, in one word for each sentence
// that says it. The words stay as they are: others say the sentences in their
// own language.
type Problem string

const (
	// ProblemImageNotPulled is a container whose image cannot be pulled.
	ProblemImageNotPulled Problem = "imageNotPulled"
	// ProblemImageUnusable is a container whose image is not looked for: its name
	// is none, or it must be on the node and is not.
	ProblemImageUnusable Problem = "imageUnusable"
	// ProblemNotStarted is a container, or a Pod as a whole, that its node cannot
	// start.
	ProblemNotStarted Problem = "notStarted"
	// ProblemCrashing is a container that ends again and again.
	ProblemCrashing Problem = "crashing"
	// ProblemExited is a container that has ended badly.
	ProblemExited Problem = "exited"
	// ProblemProbeFailing is a container that runs and does not pass its probe.
	ProblemProbeFailing Problem = "probeFailing"
	// ProblemNotScheduled is a Pod that no node takes.
	ProblemNotScheduled Problem = "notScheduled"
	// ProblemSchedulingGated is a Pod that somebody keeps from being scheduled.
	ProblemSchedulingGated Problem = "schedulingGated"
	// ProblemPodsNotCreated is an object whose pods cannot be created.
	ProblemPodsNotCreated Problem = "podsNotCreated"
	// ProblemNotBound is a claim without a volume.
	ProblemNotBound Problem = "notBound"
	// ProblemNoProgress is a workload that has not progressed for too long.
	ProblemNoProgress Problem = "noProgress"
	// ProblemFailed is an object that has failed, by its own account.
	ProblemFailed Problem = "failed"
	// ProblemNoAddress is a Service to which no load balancer has given an address.
	ProblemNoAddress Problem = "noAddress"
	// ProblemNotEnded is a Job, or an init container, that has not ended yet.
	ProblemNotEnded Problem = "notEnded"
	// ProblemDeleting is an object that is being deleted, and is not gone yet.
	ProblemDeleting Problem = "deleting"
	// ProblemNotReady is an object that is not ready yet.
	ProblemNotReady Problem = "notReady"
	// ProblemUnknown is an object of which nothing is known.
	ProblemUnknown Problem = "unknown"
)

// Problems are all of them.
var Problems = []Problem{
	ProblemImageNotPulled, ProblemImageUnusable, ProblemNotStarted, ProblemCrashing, ProblemExited, ProblemProbeFailing,
	ProblemNotScheduled, ProblemSchedulingGated, ProblemPodsNotCreated, ProblemNotBound, ProblemNoProgress, ProblemFailed,
	ProblemNoAddress, ProblemNotEnded, ProblemDeleting, ProblemNotReady, ProblemUnknown,
}

// Role is what a container is for.
type Role string

const (
	// RoleMain is that of an ordinary container.
	RoleMain Role = "main"
	// RoleInit is that of one that runs to its end before the ordinary ones start.
	RoleInit Role = "init"
	// RoleSidecar is that of one that starts before the ordinary ones and stays.
	RoleSidecar Role = "sidecar"
)

// Sentence says what is wrong with an object. Its parts are all that it takes
// to say it in any language; English says it in one.
type Sentence struct {
	// Problem is "" in events that an earlier version has stored.
	Problem Problem   `json:"problem,omitempty"`
	Object  ObjectRef `json:"object"`
	// Container is the one of the Pod Object that is meant, and Role what it is for.
	Container string `json:"container,omitempty"`
	Role      Role   `json:"role,omitempty"`
	Image     string `json:"image,omitempty"`
	// Exit is how the container ended: its exit code and the cluster's word for
	// it, "137 (OOMKilled)" for example.
	Exit string `json:"exit,omitempty"`
	// Reason is the cluster's word for the problem.
	Reason string `json:"reason"`
	// Detail is what the cluster says about it, which ends the sentence.
	Detail string `json:"detail,omitempty"`
}

// English says the sentence, without a full stop.
func (s Sentence) English() string {
	switch whole, part := s.whole(), s.part(); s.Problem {
	case ProblemImageNotPulled:
		return part + " cannot pull its image " + s.Image + s.detail()
	case ProblemImageUnusable:
		return part + " cannot use its image " + s.Image + s.reason() + s.detail()
	case ProblemNotStarted:
		return part + " cannot be started" + s.reason() + s.detail()
	case ProblemCrashing:
		return part + s.crashes() + s.detail()
	case ProblemExited:
		return part + " has failed with exit code " + s.Exit + s.detail()
	case ProblemProbeFailing:
		return part + " runs but is not ready" + s.detail()
	case ProblemNotScheduled:
		return whole + " cannot be scheduled" + s.detail()
	case ProblemSchedulingGated:
		return whole + " is not to be scheduled yet" + s.detail()
	case ProblemPodsNotCreated:
		return whole + " cannot create its pods" + s.detail()
	case ProblemNotBound:
		return whole + " is not bound" + s.detail()
	case ProblemNoProgress:
		return whole + " makes no progress any more" + s.detail()
	case ProblemFailed:
		return whole + " has failed" + s.reason() + s.detail()
	case ProblemNoAddress:
		return whole + " has been given no address by a load balancer yet" + s.detail()
	case ProblemNotEnded:
		return part + " has not ended yet" + s.detail()
	case ProblemDeleting:
		if s.Detail == "" {
			return whole + " is being deleted"
		}
		return whole + " is being deleted and waits for its finalizers" + s.detail()
	case ProblemUnknown:
		return "The state of " + whole + " is not known" + s.detail()
	}
	if s.Object.Kind == "Pod" {
		return s.whole() + " is not ready" + s.reason() + s.detail()
	}
	return s.whole() + " is not ready" + s.detail()
}

// whole names the object.
func (s Sentence) whole() string { return s.Object.Kind + " " + s.Object.Name }

// part names the container of the object, or the object if none is meant.
func (s Sentence) part() string {
	switch {
	case s.Container == "":
		return s.whole()
	case s.Role == RoleInit:
		return "Init container " + s.Container + " of " + s.whole()
	case s.Role == RoleSidecar:
		return "Sidecar container " + s.Container + " of " + s.whole()
	}
	return "Container " + s.Container + " of " + s.whole()
}

// crashes says that a container ends again and again, which may be well: it was
// made to run on.
func (s Sentence) crashes() string {
	switch {
	case s.Exit == "":
		return " keeps crashing"
	case s.Exit == "0" || strings.HasPrefix(s.Exit, "0 "):
		return " keeps ending: it ended with exit code " + s.Exit
	}
	return " keeps crashing: it ended with exit code " + s.Exit
}

// reason is the cluster's word, unless it says nothing new.
func (s Sentence) reason() string {
	if s.Reason == "" || s.Reason == WordNotReady || s.Reason == WordFailed {
		return ""
	}
	return " (" + s.Reason + ")"
}

func (s Sentence) detail() string {
	if s.Detail == "" {
		return ""
	}
	return ": " + s.Detail
}

const (
	// WordNotReady is the reason of what is not ready when the cluster gives none.
	WordNotReady = "NotReady"
	// WordFailed is the reason of what has failed when the cluster gives none.
	WordFailed = "Failed"
)

package health

import (
	"strings"
)

// Problem names the kind of problem that an object has. Each value has its own
// sentence. The values never change, because clients translate the sentences.
type Problem string

const (
	// ProblemImageNotPulled is a container whose image cannot be pulled.
	ProblemImageNotPulled Problem = "imageNotPulled"
	// ProblemImageUnusable is a container whose image is not pulled: its name
	// is invalid, or the image must already be on the node and is not.
	ProblemImageUnusable Problem = "imageUnusable"
	// ProblemNotStarted is a container or a whole Pod that its node cannot
	// start.
	ProblemNotStarted Problem = "notStarted"
	// ProblemCrashing is a container that ends repeatedly.
	ProblemCrashing Problem = "crashing"
	// ProblemExited is a container that has ended with a failure.
	ProblemExited Problem = "exited"
	// ProblemProbeFailing is a container that is running but does not pass its
	// probe.
	ProblemProbeFailing Problem = "probeFailing"
	// ProblemNotScheduled is a Pod that fits no node.
	ProblemNotScheduled Problem = "notScheduled"
	// ProblemSchedulingGated is a Pod whose scheduling gates prevent it from
	// being scheduled.
	ProblemSchedulingGated Problem = "schedulingGated"
	// ProblemPodsNotCreated is an object whose pods cannot be created.
	ProblemPodsNotCreated Problem = "podsNotCreated"
	// ProblemNotBound is a claim without a volume.
	ProblemNotBound Problem = "notBound"
	// ProblemNoProgress is a workload that has not progressed for too long.
	ProblemNoProgress Problem = "noProgress"
	// ProblemFailed is an object that reports its own failure.
	ProblemFailed Problem = "failed"
	// ProblemNoAddress is a Service that has no address from a load balancer
	// yet.
	ProblemNoAddress Problem = "noAddress"
	// ProblemNotEnded is a Job or an init container that has not ended yet.
	ProblemNotEnded Problem = "notEnded"
	// ProblemDeleting is an object that is being deleted but still exists.
	ProblemDeleting Problem = "deleting"
	// ProblemNotReady is an object that is not ready yet.
	ProblemNotReady Problem = "notReady"
	// ProblemWarning is an object that is usable and reports a problem in its own
	// status.
	ProblemWarning Problem = "warning"
	// ProblemHelmCannotJudge is an object whose status Helm cannot read, so that
	// --wait never succeeds.
	ProblemHelmCannotJudge Problem = "helmCannotJudge"
	// ProblemUnknown is an object whose state is not known.
	ProblemUnknown Problem = "unknown"
)

// Problems lists all problems.
var Problems = []Problem{
	ProblemImageNotPulled, ProblemImageUnusable, ProblemNotStarted, ProblemCrashing, ProblemExited, ProblemProbeFailing,
	ProblemNotScheduled, ProblemSchedulingGated, ProblemPodsNotCreated, ProblemNotBound, ProblemNoProgress, ProblemFailed,
	ProblemNoAddress, ProblemNotEnded, ProblemDeleting, ProblemNotReady, ProblemWarning,
	ProblemHelmCannotJudge, ProblemUnknown,
}

// Role is the role of a container in its Pod.
type Role string

const (
	// RoleMain is the role of an ordinary container.
	RoleMain Role = "main"
	// RoleInit is the role of a container that runs to its end before the
	// ordinary containers start.
	RoleInit Role = "init"
	// RoleSidecar is the role of a container that starts before the ordinary
	// containers and keeps running.
	RoleSidecar Role = "sidecar"
)

// Sentence describes a problem with an object. Its parts are sufficient to
// write the sentence in any language; English writes it in English.
type Sentence struct {
	// Problem is "" in events stored by an earlier version.
	Problem Problem   `json:"problem,omitempty"`
	Object  ObjectRef `json:"object"`
	// Container is the affected container of the Pod named by Object, and Role
	// is its role.
	Container string `json:"container,omitempty"`
	Role      Role   `json:"role,omitempty"`
	Image     string `json:"image,omitempty"`
	// Exit is the container's exit code and the cluster's word for it, for
	// example "137 (OOMKilled)".
	Exit string `json:"exit,omitempty"`
	// Reason is the cluster's word for the problem.
	Reason string `json:"reason"`
	// Detail is the cluster's message, which ends the sentence.
	Detail string `json:"detail,omitempty"`
}

// English returns the sentence in English, without a full stop.
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
	case ProblemWarning:
		return whole + " is usable but reports a problem" + s.reason() + s.detail()
	case ProblemHelmCannotJudge:
		return "helm --wait cannot succeed on " + whole + ", because Helm cannot read its status" + s.detail()
	case ProblemUnknown:
		return "The state of " + whole + " is not known" + s.detail()
	}
	if s.Object.Kind == "Pod" {
		return s.whole() + " is not ready" + s.reason() + s.detail()
	}
	return s.whole() + " is not ready" + s.detail()
}

// whole returns the object's kind and name.
func (s Sentence) whole() string { return s.Object.Kind + " " + s.Object.Name }

// part returns a phrase that names the container, or the object if no container
// is set.
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

// crashes returns a phrase for a container that ends repeatedly. Its exit code
// may be 0, which is still a problem because the container should keep running.
func (s Sentence) crashes() string {
	switch {
	case s.Exit == "":
		return " keeps crashing"
	case s.Exit == "0" || strings.HasPrefix(s.Exit, "0 "):
		return " keeps ending: it ended with exit code " + s.Exit
	}
	return " keeps crashing: it ended with exit code " + s.Exit
}

// reason returns the cluster's word in parentheses, or "" if it adds nothing.
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
	// WordNotReady is the reason of an object that is not ready when the
	// cluster gives no reason.
	WordNotReady = "NotReady"
	// WordFailed is the reason of an object that has failed when the cluster
	// gives no reason.
	WordFailed = "Failed"
)

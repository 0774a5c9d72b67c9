package helmtrail

import (
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// Started is the body of STARTED.
type Started struct {
	Operation   Operation `json:"operation"`
	Origin      Origin    `json:"origin"`
	Cluster     string    `json:"cluster"`
	Namespace   string    `json:"namespace"`
	Release     string    `json:"release"`
	Chart       string    `json:"chart,omitempty"`
	HelmVersion string    `json:"helmVersion,omitempty"`
	Command     []string  `json:"command,omitempty"`
	User        string    `json:"user,omitempty"`
	// TimeoutSeconds and DeadlineSeconds are nil for observed sessions.
	TimeoutSeconds  *float64 `json:"timeoutSeconds"`
	DeadlineSeconds *float64 `json:"deadlineSeconds"`
}

// LogLine is the body of LOG.
type LogLine struct {
	Line string `json:"line"`
	// Truncated means that the line exceeded the limit and its rest was
	// dropped.
	Truncated bool `json:"truncated,omitempty"`
}

// Phase is the current phase of a running session.
type Phase string

const (
	// PhaseQueued means that helm has not been started yet.
	PhaseQueued Phase = "queued"
	// PhaseRunning means that helm is running.
	PhaseRunning Phase = "running"
	// PhaseWaiting means that helm is waiting for resources to become ready.
	PhaseWaiting Phase = "waiting"
	// PhaseRetrying means that an attempt failed and another will follow.
	PhaseRetrying Phase = "retrying"
	// PhaseCanceling means that helm is being stopped.
	PhaseCanceling Phase = "canceling"
	// PhaseRollingBack means that helm is undoing a failed operation.
	PhaseRollingBack Phase = "rolling-back"
	// PhaseFinishing means that helm has exited and the last events are being
	// collected.
	PhaseFinishing Phase = "finishing"
)

// Heartbeat is the body of HEARTBEAT; the elapsed time is a common field.
type Heartbeat struct {
	// TimeoutSeconds and DeadlineSeconds are nil for observed sessions.
	TimeoutSeconds  *float64 `json:"timeoutSeconds"`
	DeadlineSeconds *float64 `json:"deadlineSeconds"`
	Phase           Phase    `json:"phase"`
}

// ReleaseStatus is the body of RELEASE_STATUS.
type ReleaseStatus struct {
	Revision         int               `json:"revision"`
	Status           decoder.Status    `json:"status"`
	PreviousStatus   decoder.Status    `json:"previousStatus,omitempty"`
	Change           decoder.Change    `json:"change"`
	Description      string            `json:"description,omitempty"`
	Chart            string            `json:"chart,omitempty"`
	AppVersion       string            `json:"appVersion,omitempty"`
	RollbackRevision int               `json:"rollbackRevision,omitempty"`
	Secret           decoder.SecretRef `json:"secret"`
	Late             bool              `json:"late,omitempty"`
}

// ResourceStatus is the body of RESOURCE_STATUS.
type ResourceStatus struct {
	// Full means that the rows replace all earlier rows. Otherwise Resources
	// holds only the rows that changed.
	Full      bool              `json:"full"`
	Resources []health.Resource `json:"resources"`
	// Removed holds the keys (see Resource.Key) of rows that are gone.
	Removed []string       `json:"removed,omitempty"`
	Summary health.Summary `json:"summary"`
}

// Retrying is the body of RETRYING.
type Retrying struct {
	Attempt     int    `json:"attempt"`
	MaxAttempts int    `json:"maxAttempts"`
	Reason      string `json:"reason"`
	// Code names the reason; it is "" in events of earlier versions.
	Code         RetryCode `json:"code,omitempty"`
	DelaySeconds float64   `json:"delaySeconds"`
}

// Reason says why a session failed.
type Reason string

const (
	// ReasonExit means that helm exited with an error.
	ReasonExit Reason = "exit"
	// ReasonTimeout means that the session's deadline passed.
	ReasonTimeout Reason = "timeout"
	// ReasonStart means that helm could not be run.
	ReasonStart Reason = "start"
	// ReasonPending means that helm was not run, because somebody else may be
	// working on the release.
	ReasonPending Reason = "pending"
	// ReasonInterrupted means that the session ended because helmtrail was
	// stopped or died.
	ReasonInterrupted Reason = "interrupted"
)

// Exit describes how a process ended.
type Exit struct {
	// Code is nil when a signal ended the process.
	Code *int `json:"exitCode"`
	// Signal is the signal's name, or "" if the process exited by itself.
	Signal string `json:"signal,omitempty"`
}

// RevisionStatus is a revision's number and status.
type RevisionStatus struct {
	Revision int            `json:"revision"`
	Status   decoder.Status `json:"status"`
}

// End is the body of COMPLETED, FAILED and CANCELED.
type End struct {
	// ExitCode is 0 for COMPLETED, the process's exit code for FAILED (nil if
	// there is none) and 137 for CANCELED.
	ExitCode *int   `json:"exitCode"`
	Process  *Exit  `json:"process"`
	Reason   Reason `json:"reason,omitempty"`
	// Message is helm's own error or a sentence from helmtrail.
	Message string `json:"message,omitempty"`
	// Release is the release's newest revision after the session, or nil if the
	// release is gone.
	Release *RevisionStatus `json:"release"`
	// Agrees reports whether the exit matches the revision that this session
	// created. It is nil if there is nothing to compare.
	Agrees *bool `json:"agrees"`
	// StartRevision is the release's newest revision before the session: 0 if
	// there was no revision, nil if helm was not run. Revisions holds the
	// revisions that the session created, lowest first: one for each attempt,
	// and helm's own rollback.
	StartRevision   *int               `json:"startRevision"`
	Revisions       []int              `json:"revisions"`
	Causes          []health.Cause     `json:"causes"`
	Leftovers       []health.ObjectRef `json:"leftovers"`
	DurationSeconds float64            `json:"durationSeconds"`
	// Rendered means that a dry run's manifest is available.
	Rendered bool `json:"rendered,omitempty"`
	// Notes is the release's notes, from the record or from a dry run.
	Notes string `json:"notes,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// RetryCode names the reason for another attempt, so that a client can
// translate it. Codes are part of the API and never change.
type RetryCode string

const (
	// RetryConflict means that another writer changed an object in the
	// meantime.
	RetryConflict RetryCode = "conflict"
	// RetryQuota means that a resource quota was updated at the same time.
	RetryQuota RetryCode = "quota"
	// RetryLeader means that etcd elected another leader.
	RetryLeader RetryCode = "leader"
	// RetryLost means that the connection to the API server was lost.
	RetryLost RetryCode = "lost"
	// RetryRefused means that the API server refused the connection.
	RetryRefused RetryCode = "refused"
)

// RetryCodes lists all codes.
var RetryCodes = []RetryCode{RetryConflict, RetryQuota, RetryLeader, RetryLost, RetryRefused}

package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// Type names the kind of an event. docs/events.md describes each of them.
type Type string

const (
	// TypeStarted opens every session.
	TypeStarted Type = "STARTED"
	// TypeLog is one line of helm's output.
	TypeLog Type = "LOG"
	// TypeHeartbeat tells the time that has passed; it is never stored.
	TypeHeartbeat Type = "HEARTBEAT"
	// TypeReleaseStatus is one transition of the release.
	TypeReleaseStatus Type = "RELEASE_STATUS"
	// TypeResourceStatus is a snapshot of the release's resources, or its changed rows.
	TypeResourceStatus Type = "RESOURCE_STATUS"
	// TypeRetrying announces another attempt.
	TypeRetrying Type = "RETRYING"
	// TypeReset tells a reader to drop what it has; it is never stored.
	TypeReset Type = "RESET"
	// TypeCompleted ends a session whose helm exited with 0.
	TypeCompleted Type = "COMPLETED"
	// TypeFailed ends a session that did not reach its aim.
	TypeFailed Type = "FAILED"
	// TypeCanceled ends a session that somebody cancelled.
	TypeCanceled Type = "CANCELED"
)

// Terminal reports whether t ends a session. Every session has exactly one
// terminal event and it is the last.
func (t Type) Terminal() bool {
	return t == TypeCompleted || t == TypeFailed || t == TypeCanceled
}

// Event is one entry of a session's stream: the common fields and one body.
// In JSON the body's fields stand beside the common ones.
type Event struct {
	// Seq counts a session's stored events from 1 without gaps; 0 for events
	// that are not stored.
	Seq       uint64
	Type      Type
	Time      time.Time
	SessionID string
	// Elapsed is the time since the session started, by the monotonic clock.
	Elapsed time.Duration
	// Body is a *Started, *LogLine, *Heartbeat, *ReleaseStatus, *ResourceStatus,
	// *Retrying or *End, as Type says; nil for RESET. For a type that this version
	// does not know it is a json.RawMessage with the whole event as it was stored.
	Body any
}

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
	// Truncated means that the line was longer than the limit and its rest was dropped.
	Truncated bool `json:"truncated,omitempty"`
}

// Phase says what a running session is at.
type Phase string

const (
	// PhaseQueued means that helm has not been started yet.
	PhaseQueued Phase = "queued"
	// PhaseRunning means that helm is at work.
	PhaseRunning Phase = "running"
	// PhaseWaiting means that helm waits for resources to become ready.
	PhaseWaiting Phase = "waiting"
	// PhaseRetrying means that an attempt failed and another is to come.
	PhaseRetrying Phase = "retrying"
	// PhaseCanceling means that helm is being ended.
	PhaseCanceling Phase = "canceling"
	// PhaseRollingBack means that helm undoes a failed operation.
	PhaseRollingBack Phase = "rolling-back"
	// PhaseFinishing means that helm has ended and the last events are collected.
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
	// Full means that the rows replace all earlier ones; otherwise they are
	// the rows that changed.
	Full      bool       `json:"full"`
	Resources []Resource `json:"resources"`
	// Removed holds the keys (see Resource.Key) of rows that are gone.
	Removed []string `json:"removed,omitempty"`
	Summary Summary  `json:"summary"`
}

// Resource is one object of a release at a moment.
type Resource struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Status is a word for people: Ready, Progressing, NotFound, Failed ...
	Status string `json:"status"`
	// Ready and Total count replicas, 0 of 0 where the kind has none.
	// Those of an older generation, which a rolling update is to replace, do
	// not count as ready.
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Updated counts the replicas of the newest generation, ready or not.
	Updated int    `json:"updated,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Container is the container of a Pod that Reason and Message are about.
	Container string `json:"container,omitempty"`
	// Revision is the number of the rollout, of a Deployment and its ReplicaSets.
	Revision int `json:"revision,omitempty"`
	// Hook is the hook event for which the object exists, "" for the manifest's own.
	Hook     string `json:"hook,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	// Owner is the key of the row to which this one belongs, "" for the manifest's own.
	Owner string `json:"owner,omitempty"`
	// Current means that nothing more is waited for (kstatus' word).
	Current bool `json:"current"`
	// Old means that the object belongs to an older generation or an earlier
	// run, which the one under way replaces.
	Old bool `json:"old,omitempty"`
	// Cause says why the object is not ready; its Reason is "" when nothing is
	// known to be wrong. A row's readers find it in the summary.
	Cause Cause `json:"-"`
}

// Key names the row among the rows of its snapshot: group/kind/namespace/name,
// none of which can hold a slash but the group's version, which is left out.
func (r Resource) Key() string {
	group := ""
	for i := range r.APIVersion {
		if r.APIVersion[i] == '/' {
			group = r.APIVersion[:i]
			break
		}
	}
	return group + "/" + r.Kind + "/" + r.Namespace + "/" + r.Name
}

// Exists tells whether the object is in the cluster, as far as is known.
func (r Resource) Exists() bool {
	return r.Status != StatusNotFound && r.Status != StatusUnknown && r.Status != StatusForbidden
}

const (
	// StatusNotFound is the status of an object that is not in the cluster.
	StatusNotFound = "NotFound"
	// StatusUnknown is the status of an object that could not be looked up.
	StatusUnknown = "Unknown"
	// StatusForbidden is the status of an object that may not be seen.
	StatusForbidden = "Forbidden"
)

// Summary counts a snapshot.
type Summary struct {
	Ready  int     `json:"ready"`
	Total  int     `json:"total"`
	Causes []Cause `json:"causes"`
}

// ObjectRef names one object.
type ObjectRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Cause says why a resource is not ready, as a person would say it.
type Cause struct {
	// Sentence holds the parts of Text.
	Sentence
	// Message is all that the cluster says about it.
	Message string `json:"message,omitempty"`
	// Text is Sentence in English, and behind it Because.
	Text string `json:"text"`
	// Because is what Sentence follows from: how the last container of a Job
	// ended that has failed. The zero value stands for nothing more to say.
	Because Sentence `json:"because,omitzero"`
	// Final means that waiting longer cannot heal it.
	Final bool `json:"final"`
	// Log is the last that the container wrote before it ended, a few lines.
	// It is there only when the reader, or the session's starter, may read logs.
	Log string `json:"log,omitempty"`
	// Count is how many objects have this cause, of which Object is one; absent
	// for one alone.
	Count int `json:"count,omitempty"`
	// Rank tells how near the root of the trouble the cause is.
	Rank Rank `json:"-"`
	// Source is the container whose log tells more; its Pod is "" for none.
	Source LogSource `json:"-"`
}

// Retrying is the body of RETRYING.
type Retrying struct {
	Attempt     int    `json:"attempt"`
	MaxAttempts int    `json:"maxAttempts"`
	Reason      string `json:"reason"`
	// Code names the reason; events of earlier versions have none.
	Code         RetryCode `json:"code,omitempty"`
	DelaySeconds float64   `json:"delaySeconds"`
}

// Reason says why a session failed.
type Reason string

const (
	// ReasonExit means that helm ended with an error.
	ReasonExit Reason = "exit"
	// ReasonTimeout means that the session's deadline passed.
	ReasonTimeout Reason = "timeout"
	// ReasonStart means that helm could not be run.
	ReasonStart Reason = "start"
	// ReasonPending means that helm was not run, since somebody else may be
	// working on the release.
	ReasonPending Reason = "pending"
	// ReasonInterrupted means that helmtrail's own stop or death ended it.
	ReasonInterrupted Reason = "interrupted"
)

// Exit is how a process ended.
type Exit struct {
	// Code is nil when a signal ended the process.
	Code *int `json:"exitCode"`
	// Signal is the signal's name, "" when the process exited by itself.
	Signal string `json:"signal,omitempty"`
}

// RevisionStatus is a revision's number and status.
type RevisionStatus struct {
	Revision int            `json:"revision"`
	Status   decoder.Status `json:"status"`
}

// End is the body of COMPLETED, FAILED and CANCELED.
type End struct {
	// ExitCode is 0 for COMPLETED, the process's own for FAILED (nil when it
	// had none) and 137 for CANCELED.
	ExitCode *int   `json:"exitCode"`
	Process  *Exit  `json:"process"`
	Reason   Reason `json:"reason,omitempty"`
	// Message is helm's own error, or helmtrail's sentence.
	Message string `json:"message,omitempty"`
	// Release is the release's newest revision afterwards, nil when it is gone.
	Release *RevisionStatus `json:"release"`
	// Agrees says whether the exit fits the revision that this session
	// created; nil where there is nothing to compare.
	Agrees *bool `json:"agrees"`
	// StartRevision is the release's newest revision before, 0 for none and nil
	// if helm was not run. Revisions are those that the session made, lowest
	// first: one for each attempt, and helm's own rollback.
	StartRevision   *int        `json:"startRevision"`
	Revisions       []int       `json:"revisions"`
	Causes          []Cause     `json:"causes"`
	Leftovers       []ObjectRef `json:"leftovers"`
	DurationSeconds float64     `json:"durationSeconds"`
	// Rendered means that a dry run's manifest can be read.
	Rendered bool `json:"rendered,omitempty"`
	// Notes is the release's notes as the record has them, or as a dry run
	// has rendered them.
	Notes string `json:"notes,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// common is the JSON of the fields that all events share, in their order.
type common struct {
	Seq            uint64          `json:"seq,omitempty"`
	Type           Type            `json:"type"`
	Time           string          `json:"time"`
	SessionID      string          `json:"sessionId"`
	ElapsedSeconds json.RawMessage `json:"elapsedSeconds"`
}

// MarshalJSON writes the common fields first, then the body's, on one line.
func (e Event) MarshalJSON() ([]byte, error) {
	if whole, ok := e.Body.(json.RawMessage); ok {
		return whole, nil
	}
	head, err := json.Marshal(common{
		Seq: e.Seq, Type: e.Type, Time: e.Time.UTC().Format(timeFormat), SessionID: e.SessionID,
		ElapsedSeconds: fmt.Appendf(nil, "%.3f", e.Elapsed.Seconds()),
	})
	if err != nil {
		return nil, fmt.Errorf("encode event %s of session %s: %w", e.Type, e.SessionID, err)
	}
	if e.Body == nil {
		return head, nil
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encode event %s of session %s: %w", e.Type, e.SessionID, err)
	}
	if len(body) <= 2 {
		return head, nil
	}
	head[len(head)-1] = ','
	return append(head, body[1:]...), nil
}

// timeFormat is RFC 3339 with milliseconds that are always there, so that
// times sort as text.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// UnmarshalJSON reads what MarshalJSON wrote. An event of an unknown type, as a
// later version may have stored it, is kept as it is. Unknown fields of a known
// type are ignored.
func (e *Event) UnmarshalJSON(data []byte) error {
	var c struct {
		Seq            uint64    `json:"seq"`
		Type           Type      `json:"type"`
		Time           time.Time `json:"time"`
		SessionID      string    `json:"sessionId"`
		ElapsedSeconds float64   `json:"elapsedSeconds"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if c.Type == "" {
		return errors.New("decode event: it has no type")
	}
	body, known := newBody(c.Type)
	switch {
	case !known:
		body = json.RawMessage(bytes.Clone(data))
	case body != nil:
		if err := json.Unmarshal(data, body); err != nil {
			return fmt.Errorf("decode event %s %d: %w", c.Type, c.Seq, err)
		}
	}
	*e = Event{
		Seq: c.Seq, Type: c.Type, Time: c.Time, SessionID: c.SessionID,
		Elapsed: time.Duration(math.Round(c.ElapsedSeconds*1000)) * time.Millisecond, Body: body,
	}
	return nil
}

// newBody returns an empty body for an event of the type, nil if the type has
// none, and reports whether the type is known.
func newBody(t Type) (body any, known bool) {
	switch t {
	case TypeStarted:
		return &Started{}, true
	case TypeLog:
		return &LogLine{}, true
	case TypeHeartbeat:
		return &Heartbeat{}, true
	case TypeReleaseStatus:
		return &ReleaseStatus{}, true
	case TypeResourceStatus:
		return &ResourceStatus{}, true
	case TypeRetrying:
		return &Retrying{}, true
	case TypeReset:
		return nil, true
	case TypeCompleted, TypeFailed, TypeCanceled:
		return &End{}, true
	}
	return nil, false
}

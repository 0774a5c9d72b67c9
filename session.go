package helmtrail

import (
	"time"
)

// SessionRef names a session of a release.
type SessionRef struct {
	Release ReleaseRef
	ID      string
}

// Origin says who started a session.
type Origin string

const (
	// OriginHelmtrail means that the session was submitted to helmtrail.
	OriginHelmtrail Origin = "helmtrail"
	// OriginOutside means that the session was only observed in the Secrets,
	// for example when helm was run by hand or by a pipeline.
	OriginOutside Origin = "outside"
)

// State is the state of a session.
type State string

const (
	// StateRunning means that the session has no terminal event yet.
	StateRunning State = "running"
	// StateCompleted means that helm exited with 0.
	StateCompleted State = "completed"
	// StateFailed means that the session did not succeed.
	StateFailed State = "failed"
	// StateCanceled means that somebody canceled it.
	StateCanceled State = "canceled"
)

// Session is one run of an operation, derived from its first and last events.
type Session struct {
	ID              string     `json:"id"`
	Release         ReleaseRef `json:"release"`
	Operation       Operation  `json:"operation"`
	Origin          Origin     `json:"origin"`
	User            string     `json:"user,omitempty"`
	Chart           string     `json:"chart,omitempty"`
	HelmVersion     string     `json:"helmVersion,omitempty"`
	Command         []string   `json:"command,omitempty"`
	State           State      `json:"state"`
	StartedAt       time.Time  `json:"startedAt"`
	EndedAt         *time.Time `json:"endedAt"`
	TimeoutSeconds  *float64   `json:"timeoutSeconds"`
	DeadlineSeconds *float64   `json:"deadlineSeconds"`
	// StartRevision is the release's newest revision before the session: 0 if
	// there was no revision, nil if helm has not been run. Revisions holds the
	// revisions that the session created.
	StartRevision *int  `json:"startRevision"`
	Revisions     []int `json:"revisions"`
	// End is nil while the session is running.
	End *End `json:"end"`
}

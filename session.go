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
	// OriginHelmtrail means that it was submitted here.
	OriginHelmtrail Origin = "helmtrail"
	// OriginOutside means that it was only seen in the Secrets: helm by hand, a pipeline.
	OriginOutside Origin = "outside"
)

// State says where a session stands.
type State string

const (
	// StateRunning means that the session has no terminal event yet.
	StateRunning State = "running"
	// StateCompleted means that helm exited with 0.
	StateCompleted State = "completed"
	// StateFailed means that the session did not reach its aim.
	StateFailed State = "failed"
	// StateCanceled means that somebody cancelled it.
	StateCanceled State = "canceled"
)

// Session is one run of an operation, as its first and last events tell it.
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
	// StartRevision is the release's newest revision before, 0 for none and nil
	// as long as helm was not run. Revisions are those that the session has made.
	StartRevision *int  `json:"startRevision"`
	Revisions     []int `json:"revisions"`
	// End is nil while the session runs.
	End *End `json:"end"`
}

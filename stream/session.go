package stream

import (
	"context"
	"errors"
	"fmt"
	"time"
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

// newSession reads a session from its first event, and its last one if that
// is terminal.
func newSession(first, last Event) (Session, error) {
	started, ok := first.Body.(*Started)
	if !ok {
		return Session{}, fmt.Errorf("read session %s: its first event is %s: %w", first.SessionID, first.Type, ErrAltered)
	}
	s := Session{
		ID:              first.SessionID,
		Release:         ReleaseRef{Cluster: started.Cluster, Namespace: started.Namespace, Name: started.Release},
		Operation:       started.Operation,
		Origin:          started.Origin,
		User:            started.User,
		Chart:           started.Chart,
		HelmVersion:     started.HelmVersion,
		Command:         started.Command,
		State:           StateRunning,
		StartedAt:       first.Time,
		TimeoutSeconds:  started.TimeoutSeconds,
		DeadlineSeconds: started.DeadlineSeconds,
		Revisions:       []int{},
	}
	end, ok := last.Body.(*End)
	if !ok {
		return s, nil
	}
	if end.Revisions == nil {
		end.Revisions = []int{}
	}
	s.End, s.EndedAt = end, &last.Time
	s.StartRevision, s.Revisions = end.StartRevision, end.Revisions
	switch last.Type {
	case TypeCompleted:
		s.State = StateCompleted
	case TypeCanceled:
		s.State = StateCanceled
	default:
		s.State = StateFailed
	}
	return s, nil
}

// readSession reads a session from the journal. It fails with ErrNotFound when
// nothing of it is there, and with ErrAltered when something is missing or
// cannot be read.
func readSession(ctx context.Context, journal Journal, ref SessionRef) (Session, error) {
	edge := func(entry Entry, err error) ([]Event, error) {
		if err != nil {
			return nil, err
		}
		events, err := decodeEvents(entry.Data)
		if err != nil || len(events) == 0 {
			return nil, ErrAltered
		}
		return events, nil
	}
	first, err := edge(journal.Next(ctx, ref, 0))
	if errors.Is(err, ErrNotFound) {
		return Session{}, fmt.Errorf("session %s of release %s in namespace %s: %w", ref.ID, ref.Release.Name, ref.Release.Namespace, ErrNotFound)
	}
	if err != nil {
		return Session{}, fmt.Errorf("read session %s: %w", ref.ID, err)
	}
	last, err := edge(journal.Last(ctx, ref))
	if errors.Is(err, ErrNotFound) {
		err = ErrAltered
	}
	if err != nil {
		return Session{}, fmt.Errorf("read session %s: its last event: %w", ref.ID, err)
	}
	return newSession(first[0], last[len(last)-1])
}

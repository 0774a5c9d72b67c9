package stream

import (
	"context"
	"errors"
	"fmt"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// newSession builds a session from its first event and, if its last event is
// terminal, from that event.
func newSession(first, last helmtrail.Event) (helmtrail.Session, error) {
	started, ok := first.Body.(*helmtrail.Started)
	if !ok {
		return helmtrail.Session{}, fmt.Errorf("read session %s: its first event is %s: %w", first.SessionID, first.Type, helmtrail.ErrAltered)
	}
	s := helmtrail.Session{
		ID:              first.SessionID,
		Release:         helmtrail.ReleaseRef{Cluster: started.Cluster, Namespace: started.Namespace, Name: started.Release},
		Operation:       started.Operation,
		Origin:          started.Origin,
		User:            started.User,
		Chart:           started.Chart,
		HelmVersion:     started.HelmVersion,
		Command:         started.Command,
		State:           helmtrail.StateRunning,
		StartedAt:       first.Time,
		TimeoutSeconds:  started.TimeoutSeconds,
		DeadlineSeconds: started.DeadlineSeconds,
		Revisions:       []int{},
	}
	end, ok := last.Body.(*helmtrail.End)
	if !ok {
		return s, nil
	}
	if end.Revisions == nil {
		end.Revisions = []int{}
	}
	s.End, s.EndedAt = end, &last.Time
	s.StartRevision, s.Revisions = end.StartRevision, end.Revisions
	switch last.Type {
	case helmtrail.TypeCompleted:
		s.State = helmtrail.StateCompleted
	case helmtrail.TypeCanceled:
		s.State = helmtrail.StateCanceled
	default:
		s.State = helmtrail.StateFailed
	}
	return s, nil
}

// readSession reads a session from the journal. It returns ErrNotFound if the
// journal has no entries of the session, and ErrAltered if entries are missing
// or cannot be read.
func readSession(ctx context.Context, journal Journal, ref helmtrail.SessionRef) (helmtrail.Session, error) {
	edge := func(entry backend.Entry, err error) ([]helmtrail.Event, error) {
		if err != nil {
			return nil, err
		}
		events, err := decodeEvents(entry.Data)
		if err != nil || len(events) == 0 {
			return nil, helmtrail.ErrAltered
		}
		return events, nil
	}
	first, err := edge(journal.Next(ctx, ref, 0))
	if errors.Is(err, helmtrail.ErrNotFound) {
		return helmtrail.Session{}, fmt.Errorf("session %s of release %s in namespace %s: %w", ref.ID, ref.Release.Name, ref.Release.Namespace, helmtrail.ErrNotFound)
	}
	if err != nil {
		return helmtrail.Session{}, fmt.Errorf("read session %s: %w", ref.ID, err)
	}
	last, err := edge(journal.Last(ctx, ref))
	if errors.Is(err, helmtrail.ErrNotFound) {
		err = helmtrail.ErrAltered
	}
	if err != nil {
		return helmtrail.Session{}, fmt.Errorf("read session %s: its last event: %w", ref.ID, err)
	}
	return newSession(first[0], last[len(last)-1])
}

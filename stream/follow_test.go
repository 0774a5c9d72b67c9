package stream_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
)

func TestFollowReturnsStoredEventsAndThenNewOnes(t *testing.T) {
	w := stream.NewLogWriter(openJournal(t), session, 1<<20)
	write := func(bodies ...any) {
		t.Helper()
		if err := w.Write(t.Context(), bodies...); err != nil {
			t.Fatal(err)
		}
	}
	write(&helmtrail.Started{}, &helmtrail.LogLine{Line: "one"})
	if err := w.Beat(); err != nil {
		t.Fatal(err)
	}

	// Follow ends when f has enough, and when ctx ends.
	var first []uint64
	err := w.Log().Follow(t.Context(), 0, func(e helmtrail.Event) bool {
		first = append(first, e.Seq)
		return e.Type != helmtrail.TypeLog
	})
	if err != nil || !slices.Equal(first, []uint64{1, 2}) {
		t.Errorf("until the line: %v, %v", first, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Log().Follow(ended, 0, func(helmtrail.Event) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}

	// A follower that starts before the rest is written receives it without
	// heartbeats, and returns after the terminal event.
	var types []helmtrail.Type
	joined, followed := make(chan struct{}), make(chan error, 1)
	go func() {
		followed <- w.Log().Follow(t.Context(), 1, func(e helmtrail.Event) bool {
			if len(types) == 0 {
				close(joined)
			}
			types = append(types, e.Type)
			return true
		})
	}()
	<-joined
	if err := w.Beat(); err != nil {
		t.Fatal(err)
	}
	write(&helmtrail.LogLine{Line: "two"})
	write(&helmtrail.End{Causes: []health.Cause{}, Leftovers: []health.ObjectRef{}})
	if err := <-followed; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]helmtrail.Type{helmtrail.TypeLog, helmtrail.TypeLog, helmtrail.TypeCompleted}, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/streamtest"
)

// An event that the journal can never store must not keep a session from ending.
func TestAnEventThatIsTooBigIsLeftOut(t *testing.T) {
	j := openJournal(t)
	o := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := o.RunToEnd(ctx, session, "before", strings.Repeat("x", backend.MaxEntry), "after"); err != nil {
		t.Fatal(err)
	}
	log, err := stream.OpenLog(ctx, j, session, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for cursor := log.Cursor(0); ; {
		data, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _, events := frames(t, data)
		for _, e := range events {
			if line, ok := e.Body.(*helmtrail.LogLine); ok {
				lines = append(lines, fmt.Sprintf("%d %s", e.Seq, line.Line))
			} else {
				lines = append(lines, fmt.Sprintf("%d %s", e.Seq, e.Type))
			}
		}
	}
	if diff := cmp.Diff([]string{"1 before", "2 after", "3 COMPLETED"}, lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// When another process has written to a session, this one stops and neither ends it
// nor adds to it.
func TestASessionThatAnotherProcessTookOverIsLeftToIt(t *testing.T) {
	for name, run := range map[string]func(*stream.Operations, context.Context, helmtrail.SessionRef, ...string) error{
		"while helm runs":  (*stream.Operations).RunUntilLeft,
		"when helm exited": (*stream.Operations).RunToEnd,
	} {
		t.Run(name, func(t *testing.T) {
			j := openJournal(t)
			if err := stream.NewLogWriter(j, session, 1<<20).Write(t.Context(), &helmtrail.Started{}); err != nil {
				t.Fatal(err)
			}
			before, err := j.Last(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			o := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.DiscardHandler)})
			if err := run(o, t.Context(), session, "late"); err != nil {
				t.Fatal(err)
			}
			after, err := j.Last(t.Context(), session)
			if diff := cmp.Diff(before, after); diff != "" || err != nil {
				t.Errorf("the last entry, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A damaged session does not hide the release's other sessions.
func TestADamagedSessionHidesNoOther(t *testing.T) {
	folder := t.TempDir()
	write := func(j *journal.Journal, id string, bodies ...any) {
		t.Helper()
		w := stream.NewLogWriter(j, helmtrail.SessionRef{Release: session.Release, ID: id}, 0)
		for _, body := range bodies {
			if err := w.Write(t.Context(), body); err != nil {
				t.Fatal(err)
			}
		}
	}
	j, err := journal.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	release := session.Release
	started := func(chart string) *helmtrail.Started {
		return &helmtrail.Started{Cluster: release.Cluster, Namespace: release.Namespace, Release: release.Name, Chart: chart}
	}
	write(j, "first", started("damaged-first"), &helmtrail.LogLine{Line: "a line"}, &helmtrail.End{})
	write(j, "last", started("whole"), &helmtrail.LogLine{Line: "a line"}, &helmtrail.End{Message: "damaged-last"})
	write(j, "whole", started("whole"), &helmtrail.End{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "jetstream", "$G", "streams", "SESSIONS", "msgs", "1.blk")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"damaged-first", "damaged-last"} {
		content[bytes.Index(content, []byte(text))]++
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if j, err = journal.Open(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	operations := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	sessions, err := operations.Sessions(t.Context(), release)
	if err != nil || len(sessions) != 1 || sessions[0].ID != "whole" {
		t.Errorf("the sessions are %+v, %v", sessions, err)
	}
}

// fullJournal stores nothing, like a full disk.
type fullJournal struct{ stream.Journal }

func (fullJournal) Append(context.Context, helmtrail.SessionRef, backend.Position, int64, []byte) (backend.Position, error) {
	return 0, errors.New("no space left")
}

// A terminal event that cannot be stored is retried while helmtrail runs. It does
// not keep helmtrail from stopping.
func TestAFullJournalDoesNotKeepHelmtrailFromStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		operations := stream.NewOperations(stream.Setup{
			Journal: fullJournal{}, Drain: 25 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		ended := make(chan error, 1)
		go func() { ended <- operations.RunToEnd(t.Context(), session) }()
		time.Sleep(time.Hour)
		select {
		case err := <-ended:
			t.Fatalf("the session was given up while helmtrail ran: %v", err)
		default:
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		begun := time.Now()
		if err := operations.Run(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil || time.Since(begun) > time.Minute {
			t.Errorf("stopping took %v, and the session returned %v", time.Since(begun), err)
		}
	})
}

// A later version may have stored events of types that this version does not know.
func TestAnEventOfAnUnknownTypeIsKeptAsItIs(t *testing.T) {
	j := openJournal(t)
	const head = `,"time":"2026-12-02T10:00:00.000Z","sessionId":"0b0fbd4e-6c0a-4f8a-9e6e-000000000001","elapsedSeconds":`
	started := `{"seq":1,"type":"STARTED"` + head + `0.000,"operation":"upgrade","origin":"helmtrail","cluster":"dev","namespace":"shop","release":"web.site","timeoutSeconds":300,"deadlineSeconds":315}`
	unknown := `{"seq":2,"type":"TELEPORTED"` + head + `1.500,"to":{"zone":"b\u0026c","hops":[1,2]},"precisely":1.50}`
	another := `{"seq":3,"type":"LANDED"` + head + `1.600}`
	completed := `{"seq":4,"type":"COMPLETED"` + head + `2.000,"exitCode":0,"process":null,"release":null,"agrees":null,"startRevision":1,"revisions":[2],"causes":[],"leftovers":[],"durationSeconds":2}`
	position := backend.Position(0)
	for _, entry := range []string{started + "\n" + unknown, another, completed} {
		var err error
		if position, err = j.Append(t.Context(), session, position, 0, []byte(entry+"\n")); err != nil {
			t.Fatal(err)
		}
	}

	log, err := stream.OpenLog(t.Context(), j, session, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var replayed []string
	for cursor := log.Cursor(0); ; {
		data, err := cursor.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		frames, err := streamtest.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			replayed = append(replayed, f.Data)
		}
	}
	if diff := cmp.Diff([]string{started, unknown, another, completed}, replayed); diff != "" {
		t.Errorf("replayed events (-want +got):\n%s", diff)
	}

	var followed []string
	err = log.Follow(t.Context(), 0, func(e helmtrail.Event) bool {
		again, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		if e.Type == "TELEPORTED" && (e.Seq != 2 || e.Elapsed != 1500*time.Millisecond || string(again) != unknown) {
			t.Errorf("event %d after %v is encoded again as %s, want %s", e.Seq, e.Elapsed, again, unknown)
		}
		followed = append(followed, string(e.Type))
		return true
	})
	if diff := cmp.Diff([]string{"STARTED", "TELEPORTED", "LANDED", "COMPLETED"}, followed); diff != "" || err != nil {
		t.Errorf("followed events, %v (-want +got):\n%s", err, diff)
	}

	operations := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.DiscardHandler)})
	got, err := operations.Session(t.Context(), session.Release, session.ID)
	if err != nil || got.State != helmtrail.StateCompleted || !slices.Equal(got.Revisions, []int{2}) {
		t.Errorf("the session is %+v, %v", got, err)
	}
}

func TestASessionThatIsStillAtAnUnknownEventRuns(t *testing.T) {
	j := openJournal(t)
	const events = `{"seq":1,"type":"STARTED","time":"2026-12-02T10:00:00.000Z","sessionId":"s","elapsedSeconds":0.000,"operation":"upgrade","origin":"helmtrail"}
{"seq":2,"type":"TELEPORTED","time":"2026-12-02T10:00:00.000Z","sessionId":"s","elapsedSeconds":1.000}
`
	if _, err := j.Append(t.Context(), session, 0, 0, []byte(events)); err != nil {
		t.Fatal(err)
	}
	operations := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.DiscardHandler)})
	if got, err := operations.Session(t.Context(), session.Release, session.ID); err != nil || got.State != helmtrail.StateRunning {
		t.Errorf("the session is %+v, %v", got, err)
	}
}

package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// An event that the journal can never take must not keep a session from its end.
func TestAnEventThatIsTooBigIsLeftOut(t *testing.T) {
	j := openJournal(t)
	o := stream.NewOperations(stream.Setup{Journal: j, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := o.RunToEnd(ctx, session, "before", strings.Repeat("x", stream.MaxEntry), "after"); err != nil {
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
			if line, ok := e.Body.(*stream.LogLine); ok {
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

// A session that is damaged in the journal does not hide the release's others.
func TestADamagedSessionHidesNoOther(t *testing.T) {
	folder := t.TempDir()
	write := func(j *journal.Journal, id string, bodies ...any) {
		t.Helper()
		w := stream.NewLogWriter(j, stream.SessionRef{Release: session.Release, ID: id}, 0)
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
	started := func(chart string) *stream.Started {
		return &stream.Started{Cluster: release.Cluster, Namespace: release.Namespace, Release: release.Name, Chart: chart}
	}
	write(j, "first", started("damaged-first"), &stream.LogLine{Line: "a line"}, &stream.End{})
	write(j, "last", started("whole"), &stream.LogLine{Line: "a line"}, &stream.End{Message: "damaged-last"})
	write(j, "whole", started("whole"), &stream.End{})
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

// fullJournal takes nothing, as on a full disk.
type fullJournal struct{ stream.Journal }

func (fullJournal) Append(context.Context, stream.SessionRef, stream.Position, int64, []byte) (stream.Position, error) {
	return 0, errors.New("no space left")
}

// An end that cannot be stored is tried for as long as helmtrail runs, and does
// not keep it from stopping.
func TestAJournalThatTakesNothingDoesNotKeepHelmtrailFromStopping(t *testing.T) {
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
			t.Errorf("it took %v to stop, and the session's end was %v", time.Since(begun), err)
		}
	})
}

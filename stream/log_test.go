package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/streamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var session = helmtrail.SessionRef{
	Release: helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web.site"},
	ID:      "0b0fbd4e-6c0a-4f8a-9e6e-000000000001",
}

func openJournal(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// frames returns the ids, types and events of the frames that a cursor returned.
func frames(t *testing.T, data []byte) (ids, types []string, events []helmtrail.Event) {
	t.Helper()
	parsed, err := streamtest.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parsed {
		e, err := f.Decode()
		if err != nil {
			t.Fatal(err)
		}
		ids, types, events = append(ids, f.ID), append(types, f.Event), append(events, e)
	}
	return ids, types, events
}

// readAll reads a cursor to its end and returns the seqs of the stored events.
func readAll(ctx context.Context, t *testing.T, c *stream.Cursor) []uint64 {
	t.Helper()
	var seqs []uint64
	for {
		data, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return seqs
		}
		if err != nil {
			t.Error(err)
			return seqs
		}
		ids, _, events := frames(t, data)
		for i, e := range events {
			if e.Seq == 0 {
				continue // a heartbeat
			}
			if want := fmt.Sprintf("%s.%d", session.ID, e.Seq); ids[i] != want {
				t.Errorf("event %d has id %q, want %q", e.Seq, ids[i], want)
			}
			seqs = append(seqs, e.Seq)
		}
	}
}

func upTo(first, last uint64) []uint64 {
	var seqs []uint64
	for s := first; s <= last; s++ {
		seqs = append(seqs, s)
	}
	return seqs
}

// Readers see each event exactly once and in order whenever they start, also when
// the events are no longer kept in memory.
func TestEveryReaderSeesEachEventOnce(t *testing.T) {
	const lines = 600
	for _, cache := range []int{1, 64 << 20} {
		t.Run(fmt.Sprintf("cache of %d bytes", cache), func(t *testing.T) {
			j := openJournal(t)
			w := stream.NewLogWriter(j, session, cache)
			if err := w.Write(t.Context(), &helmtrail.Started{}); err != nil {
				t.Fatal(err)
			}
			var readers sync.WaitGroup
			read := func(after uint64) {
				cursor := w.Log().Cursor(after)
				readers.Go(func() {
					got := readAll(t.Context(), t, cursor)
					if diff := cmp.Diff(upTo(after+1, lines+2), got); diff != "" {
						t.Errorf("reader from %d (-want +got):\n%s", after, diff)
					}
				})
			}
			read(0)
			for n := 0; n < lines; {
				var batch []any
				for range 1 + n%7 {
					if n < lines {
						n++
						batch = append(batch, &helmtrail.LogLine{Line: fmt.Sprintf("line %d", n)})
					}
				}
				if err := w.Write(t.Context(), batch...); err != nil {
					t.Fatal(err)
				}
				if n%200 < 7 {
					head, _ := w.Log().Head()
					read(0)
					read(head)
					read(head / 2)
				}
				if n%100 < 7 {
					if err := w.Beat(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Write(t.Context(), &helmtrail.End{}); err != nil {
				t.Fatal(err)
			}
			readers.Wait()

			again, err := stream.OpenLog(t.Context(), j, session, cache)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(upTo(4, lines+2), readAll(t.Context(), t, again.Cursor(3))); diff != "" {
				t.Errorf("reopened log from 3 (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACursorWaitsAndEndsWithItsContext(t *testing.T) {
	w := stream.NewLogWriter(openJournal(t), session, 1<<20)
	if err := w.Write(t.Context(), &helmtrail.Started{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Beat(); err != nil {
		t.Fatal(err)
	}
	cursor := w.Log().Cursor(0)
	for _, want := range []string{"STARTED", "HEARTBEAT"} {
		data, err := cursor.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, types, _ := frames(t, data); len(types) != 1 || types[0] != want {
			t.Errorf("got %v, want %s", types, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := cursor.Next(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A batch that is too big for one entry of the journal is stored as several.
func TestABigBatchIsSplit(t *testing.T) {
	w := stream.NewLogWriter(openJournal(t), session, 64<<20)
	if err := w.Write(t.Context(), &helmtrail.Started{}); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 16<<10)
	var batch []any
	for range 100 {
		batch = append(batch, &helmtrail.LogLine{Line: line})
	}
	if err := w.Write(t.Context(), append(batch, &helmtrail.End{})...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(upTo(1, 102), readAll(t.Context(), t, w.Log().Cursor(0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASecondWriterIsFencedOff(t *testing.T) {
	j := openJournal(t)
	first, second := stream.NewLogWriter(j, session, 1<<20), stream.NewLogWriter(j, session, 1<<20)
	if err := first.Write(t.Context(), &helmtrail.Started{}); err != nil {
		t.Fatal(err)
	}
	// The journal takes the same event at the same millisecond for a late attempt of
	// the first writer.
	if err := second.Write(t.Context(), &helmtrail.Started{User: "another"}); !errors.Is(err, helmtrail.ErrFenced) {
		t.Errorf("got %v, want %v", err, helmtrail.ErrFenced)
	}
}

func BenchmarkFanOut(b *testing.B) {
	for _, readers := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("%d readers", readers), func(b *testing.B) {
			j, err := journal.Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			w := stream.NewLogWriter(j, session, 64<<20)
			if err := w.Write(b.Context(), &helmtrail.Started{}); err != nil {
				b.Fatal(err)
			}
			var reading sync.WaitGroup
			for range readers {
				cursor := w.Log().Cursor(0)
				reading.Go(func() {
					for {
						if _, err := cursor.Next(b.Context()); err != nil {
							return
						}
					}
				})
			}
			line := &helmtrail.LogLine{Line: "client.go:142: [debug] creating 3 resource(s)"}
			batch := make([]any, 64)
			for i := range batch {
				batch[i] = line
			}
			b.ResetTimer()
			for n := 0; n < b.N; n += len(batch) {
				if err := w.Write(b.Context(), batch...); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Write(b.Context(), &helmtrail.End{}); err != nil {
				b.Fatal(err)
			}
			reading.Wait()
			b.ReportMetric(float64(b.N)*float64(readers)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

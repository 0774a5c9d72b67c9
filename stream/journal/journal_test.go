package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, folder string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closed(t *testing.T, j *journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func sessionOf(name, id string) helmtrail.SessionRef {
	return helmtrail.SessionRef{Release: helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: name}, ID: id}
}

func TestEntriesSurviveReopening(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	// Names that differ only by dots and slashes must not collide.
	sessions := []helmtrail.SessionRef{sessionOf("a.b", "1-1"), sessionOf("a", "1-1"), sessionOf("a.b", "1-2"), sessionOf("a.b", "odd id *>.")}
	for i, s := range sessions {
		after := backend.Position(0)
		for n := range 3 {
			var err error
			after, err = j.Append(t.Context(), s, after, int64(10*n), fmt.Appendf(nil, "entry %d of session %d\n", n, i))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	closed(t, j)

	j = open(t, folder)
	defer closed(t, j)
	for i, s := range sessions {
		after := backend.Position(0)
		for n := range 3 {
			e, err := j.Next(t.Context(), s, after)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("entry %d of session %d\n", n, i); string(e.Data) != want || e.Offset != int64(10*n) {
				t.Errorf("got %q with offset %d, want %q with offset %d", e.Data, e.Offset, want, 10*n)
			}
			after = e.Position
		}
		if _, err := j.Next(t.Context(), s, after); !errors.Is(err, helmtrail.ErrNotFound) {
			t.Errorf("after the last entry: got %v, want %v", err, helmtrail.ErrNotFound)
		}
		if last, err := j.Last(t.Context(), s); err != nil || last.Position != after {
			t.Errorf("the last entry is at %d, %v; want %d", last.Position, err, after)
		}
		if _, err := j.Append(t.Context(), s, after-1, 0, []byte("x\n")); !errors.Is(err, helmtrail.ErrFenced) {
			t.Errorf("a writer that does not know the last entry: got %v, want %v", err, helmtrail.ErrFenced)
		}
	}
	ids, err := j.Sessions(t.Context(), sessions[1].Release)
	if diff := cmp.Diff([]string{"1-1"}, ids); diff != "" || err != nil {
		t.Errorf("sessions of release a: %v (-want +got):\n%s", err, diff)
	}
	ids, err = j.Sessions(t.Context(), sessions[0].Release)
	if err != nil || len(ids) != 3 || !slices.Contains(ids, "1-1") || !slices.Contains(ids, "1-2") {
		t.Errorf("sessions of release a.b: %v, %v", ids, err)
	}
	if _, err := j.Last(t.Context(), sessionOf("none", "1-1")); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("a session that does not exist: got %v, want %v", err, helmtrail.ErrNotFound)
	}
}

// On a slow disk an entry may be stored after its writer has given up and before it
// tries again.
func TestAnEntryThatWasStoredLateIsStoredOnce(t *testing.T) {
	j := open(t, t.TempDir())
	defer closed(t, j)
	s := sessionOf("a", "1")
	first, err := j.Append(t.Context(), s, 0, 0, []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := j.Append(t.Context(), s, first, 6, []byte("second\n"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := j.Append(t.Context(), s, first, 6, []byte("second\n"))
	if err != nil || again != second {
		t.Errorf("storing it again: position %d, %v; want %d", again, err, second)
	}
	if e, err := j.Next(t.Context(), s, second); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("after it: got %q, %v; want %v", e.Data, err, helmtrail.ErrNotFound)
	}
}

func TestAFolderBelongsToOneProcess(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	if _, err := journal.Open(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second journal on the folder: got %v, want that it is in use", err)
	}
	closed(t, j)
	closed(t, open(t, folder))
}

func TestAnEntryThatIsTooLargeIsRefused(t *testing.T) {
	j := open(t, t.TempDir())
	defer closed(t, j)
	if _, err := j.Append(t.Context(), sessionOf("a", "1"), 0, 0, make([]byte, backend.MaxEntry)); err != nil {
		t.Errorf("the largest entry: %v", err)
	}
	if _, err := j.Append(t.Context(), sessionOf("a", "2"), 0, 0, make([]byte, backend.MaxEntry+1)); err == nil {
		t.Error("one byte more was not refused")
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := journal.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	data := []byte(strings.Repeat("x", 300) + "\n")
	after := backend.Position(0)
	b.ReportAllocs()
	for b.Loop() {
		if after, err = j.Append(context.Background(), sessionOf("a", "1"), after, 0, data); err != nil {
			b.Fatal(err)
		}
	}
}

// The server must not get a request while its streams are reopened, because it
// then replaces the queues of requests.
func TestReadersAndReopenedStreamsDoNotRace(t *testing.T) {
	j := open(t, t.TempDir())
	defer closed(t, j)
	session := sessionOf("web", "one")
	if _, err := j.Append(t.Context(), session, 0, 0, []byte("stored")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for ctx.Err() == nil {
				entry, err := j.Last(ctx, session)
				if ctx.Err() == nil && (err != nil || string(entry.Data) != "stored") {
					t.Errorf("a reader got %q, %v", entry.Data, err)
				}
			}
		})
	}
	for range 5 {
		if err := journal.Reopen(j); err != nil {
			t.Error(err)
		}
	}
	stop()
	reading.Wait()
}

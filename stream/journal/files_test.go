package journal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/journal"
)

func store(t *testing.T, j *journal.Journal, o journal.StoreOptions) *journal.Store {
	t.Helper()
	s, err := j.Store(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var chain = journal.StoreOptions{Name: "CHAIN", Subjects: []string{"chain.>"}, AppendOnly: true}

func read(t *testing.T, folder, name string) (messages []journal.Message, problems []string) {
	t.Helper()
	if err := journal.ReadFiles(folder, name, func(m journal.Stored) error {
		if m.Problem != "" {
			problems = append(problems, fmt.Sprintf("%d %s", m.Sequence, m.Problem))
			return nil
		}
		messages = append(messages, m.Message)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return messages, problems
}

// The files hold exactly the messages given to NATS, even while the server runs
// and when there are several files. The test fails if NATS changes its format.
func TestFilesHoldTheMessagesGivenToNATS(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	s := store(t, j, chain)
	var want []string
	for n := range 60 {
		m := journal.Message{Subject: fmt.Sprintf("chain.%d", n%3), Data: bytes.Repeat([]byte{byte(n)}, n*n*120)}
		m.Headers = map[string]string{}
		if n%2 == 0 {
			m.Headers["Some-Header"] = fmt.Sprint("value of ", n)
		}
		var err error
		if m.Sequence, err = s.Append(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		want = append(want, brief(m))
	}
	for _, state := range []string{"running", "ended"} {
		messages, problems := read(t, folder, "CHAIN")
		var got []string
		for _, m := range messages {
			got = append(got, brief(m))
		}
		if diff := cmp.Diff(want, got); diff != "" || problems != nil {
			t.Errorf("with the server %s: %v (-want +got):\n%s", state, problems, diff)
		}
		if state == "running" {
			closed(t, j)
		}
	}
	if files, err := filepath.Glob(filepath.Join(folder, "jetstream", "$G", "streams", "CHAIN", "msgs", "*.blk")); err != nil || len(files) < 2 {
		t.Errorf("there are only the files %v, %v", files, err)
	}
	if err := journal.ReadFiles(folder, "OTHER", nil); !errors.Is(err, journal.ErrNoStream) {
		t.Errorf("a stream that does not exist: %v", err)
	}
}

// brief formats all of a message, with its data as a hash.
func brief(m journal.Message) string {
	return fmt.Sprintf("%d %s %v %d %x", m.Sequence, m.Subject, m.Headers, len(m.Data), sha256.Sum256(m.Data))
}

// A subject keeps its newest message if the stream does not keep all messages.
// An erased message is nowhere in the files.
func TestErasedMessagesAreOverwritten(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	s := store(t, j, journal.StoreOptions{Name: "NEWEST", Subjects: []string{"newest.*"}})
	var erased uint64
	for n, text := range []string{"first of one", "CANARY of two", "second of one", "only of three"} {
		subject := "newest." + text[len(text)-3:]
		sequence, err := s.Append(t.Context(), journal.Message{Subject: subject, Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			erased = sequence
		}
	}
	for range 2 {
		if err := s.Erase(t.Context(), erased); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(t.Context(), erased); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("an erased message: %v", err)
	}
	if m, err := s.Last(t.Context(), "newest.one"); err != nil || string(m.Data) != "second of one" {
		t.Errorf("the newest is %s, %v", m.Data, err)
	}
	closed(t, j)
	files, err := filepath.Glob(filepath.Join(folder, "jetstream", "$G", "streams", "NEWEST", "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if content, err := os.ReadFile(file); err != nil || bytes.Contains(content, []byte("CANARY")) {
			t.Errorf("an erased message is still in %s, %v", file, err)
		}
	}
	messages, problems := read(t, folder, "NEWEST")
	newest := map[string]string{}
	for _, m := range messages {
		newest[m.Subject] = string(m.Data)
	}
	want := map[string]string{"newest.one": "second of one", "newest.ree": "only of three"}
	if diff := cmp.Diff(want, newest); diff != "" || problems != nil {
		t.Errorf("the files hold, by subject: %v (-want +got):\n%s", problems, diff)
	}
}

// Only one of two writers that know the same last message succeeds, whichever
// subject of the filter they write to.
func TestTheLastMessageOfAFilterFencesWriters(t *testing.T) {
	j := open(t, t.TempDir())
	defer closed(t, j)
	s := store(t, j, chain)
	first, err := s.AppendAfter(t.Context(), journal.Message{Subject: "chain.a.x"}, "chain.a.>", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendAfter(t.Context(), journal.Message{Subject: "chain.b.x"}, "chain.b.>", 0); err != nil {
		t.Error(err)
	}
	if _, err := s.AppendAfter(t.Context(), journal.Message{Subject: "chain.a.y"}, "chain.a.>", 0); !errors.Is(err, helmtrail.ErrFenced) {
		t.Errorf("a writer that knows no message: %v", err)
	}
	second, err := s.AppendAfter(t.Context(), journal.Message{Subject: "chain.a.y"}, "chain.a.>", first)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := s.Next(t.Context(), "chain.a.>", first); err != nil || next.Sequence != second {
		t.Errorf("after the first comes %d, %v", next.Sequence, err)
	}
	if err := s.Erase(t.Context(), first); err == nil {
		t.Error("a message that must stay was erased")
	}
}

// Damaged files are copied before NATS truncates them. Of streams that are not
// guarded, only the files that NATS reads are checked.
func TestDamagedFilesAreCopiedOnce(t *testing.T) {
	folder := t.TempDir()
	j := open(t, folder)
	s := store(t, j, chain)
	for n := range 10 {
		if _, err := s.Append(t.Context(), journal.Message{Subject: "chain.x", Data: fmt.Appendf(nil, "message %d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, j)
	path := filepath.Join(folder, "jetstream", "$G", "streams", "CHAIN", "msgs", "1.blk")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[bytes.Index(content, []byte("message 4"))]++
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	messages, problems := read(t, folder, "CHAIN")
	if len(messages) != 9 || len(problems) != 1 || !strings.HasPrefix(problems[0], "5 its checksum") {
		t.Errorf("%d messages, problems %q", len(messages), problems)
	}
	// A partial copy left behind by a full disk does not count as a copy.
	at := 0
	if err := journal.ReadFiles(folder, "CHAIN", func(m journal.Stored) error {
		if m.Problem != "" {
			at = m.Offset
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(folder, "damaged")
	rest := filepath.Join(damaged, fmt.Sprintf("CHAIN-1.blk-%d.new", at))
	if err := errors.Join(os.MkdirAll(damaged, 0o700), os.WriteFile(rest, content[:9], 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, guarded := range [][]string{nil, {"CHAIN", "OTHER"}, {"CHAIN"}} {
		j, err = journal.Open(t.Context(), folder, guarded...)
		if err != nil {
			t.Fatal(err)
		}
		if damage := j.Damage(); len(damage) != 1 || damage[0].Stream != "CHAIN" || damage[0].Sequence != 5 {
			t.Errorf("the damage is %+v", damage)
		} else if kept, err := os.ReadFile(damage[0].Copy); err != nil || !bytes.Equal(kept, content) {
			t.Errorf("the copy differs from the original: %v", err)
		}
		closed(t, j)
	}
	if copies, err := os.ReadDir(damaged); err != nil || len(copies) != 1 {
		t.Errorf("copies: %v, %v", copies, err)
	}
}

package trail_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// check runs Verify on the folder of start.
func check(t *testing.T, folder string, change ...func(*trail.Check)) trail.Finding {
	t.Helper()
	c := trail.Check{Journal: folder, Notes: filepath.Join(folder, "trail"), Records: true}
	for _, f := range change {
		f(&c)
	}
	findings, err := trail.Verify(c)
	if err != nil || len(findings) != 1 || findings[0].Cluster != "dev" {
		t.Fatalf("found %+v, %v", findings, err)
	}
	return findings[0]
}

// kept creates a folder with a finished trail of two releases.
func kept(t *testing.T) (string, audit.State) {
	t.Helper()
	folder := t.TempDir()
	c := newCluster(t)
	r := start(t, folder, c)
	c.install(state{name: "web"})
	c.upgrade(state{name: "web", number: 2}, 10)
	c.install(state{name: "big", padding: 700 << 10})
	r.settle()
	last := r.state(true)
	r.end()
	return folder, last
}

// file returns the only block file of a stream.
func file(t *testing.T, folder, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "jetstream", "$G", "streams", name, "msgs", "*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of %s: %v, %v", name, files, err)
	}
	return files[0]
}

func TestAnUntouchedTrailIsVerified(t *testing.T) {
	folder, state := kept(t)
	f := check(t, folder)
	if !f.Verified || f.Entries != state.Entries || f.Head != state.Head || f.Records != 7 || f.Erased != 0 {
		t.Errorf("found %+v, want %d entries up to %s, and 7 records", f, state.Entries, state.Head)
	}
	for _, at := range []uint64{0, state.Entries} {
		if f := check(t, folder, func(c *trail.Check) { c.Head, c.At = state.Head, at }); !f.Verified {
			t.Errorf("with the head at %d: %+v", at, f)
		}
	}
	if _, err := trail.Verify(trail.Check{Journal: t.TempDir()}); !errors.Is(err, trail.ErrNoTrail) {
		t.Errorf("without a trail: %v", err)
	}
}

// If any byte of the stored trail is changed, the broken link is named.
// Changing the byte back repairs the trail.
func TestAChangedByteIsNamed(t *testing.T) {
	folder, state := kept(t)
	path := file(t, folder, "TRAIL")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 7
	for at := 0; at < len(content); at += step {
		changed := bytes.Clone(content)
		changed[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		f := check(t, folder, func(c *trail.Check) { c.Records = false })
		if f.Verified || f.Broken == 0 || f.Broken > state.Entries || f.Problem == "" {
			t.Fatalf("byte %d of %d was changed, found %+v", at, len(content), f)
		}
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := check(t, folder); !f.Verified {
		t.Errorf("found %+v", f)
	}
}

// If the note of the chain's head cannot be read, the trail is still verified,
// and the report names what remains unknown.
func TestADamagedNoteDoesNotKeepTheTrailFromBeingVerified(t *testing.T) {
	folder, last := kept(t)
	note := filepath.Join(folder, "trail", "dev.json")
	if err := os.WriteFile(note, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := check(t, folder); f.Head != last.Head || f.Broken != last.Entries+1 || !strings.Contains(f.Problem, "is not known") {
		t.Errorf("found %+v", f)
	}
	path := file(t, folder, "TRAIL")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[200] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := check(t, folder); f.Broken != 1 {
		t.Errorf("with a changed entry found %+v", f)
	}
}

func TestAChangedByteOfARecordIsNamed(t *testing.T) {
	folder, _ := kept(t)
	path := file(t, folder, "RECORDS")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 3; at < len(content); at += len(content)/40 + 1 {
		changed := bytes.Clone(content)
		changed[at] ^= 1
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if f := check(t, folder); f.Verified || !strings.Contains(f.Problem, "record") {
			t.Fatalf("byte %d of %d was changed, found %+v", at, len(content), f)
		}
	}
}

// A completely rewritten chain verifies by itself; only an earlier head exposes
// it. The same holds for a chain that was truncated together with the note of
// its head.
func TestARewrittenOrTruncatedChainLacksTheEarlierHead(t *testing.T) {
	folder, state := kept(t)
	entries := readAll(t, folder)
	for name, forged := range map[string][]audit.Entry{
		"rewritten": slices.Concat(entries[:3], without(entries[3:], "big")),
		"cut":       entries[:len(entries)-2],
	} {
		forgery := forge(t, forged)
		if f := check(t, forgery, func(c *trail.Check) { c.Records = false }); !f.Verified {
			t.Fatalf("%s: the forgery is not valid: %+v", name, f)
		}
		for _, at := range []uint64{0, state.Entries} {
			f := check(t, forgery, func(c *trail.Check) { c.Head, c.At, c.Records = state.Head, at, false })
			if f.Verified || f.Broken == 0 {
				t.Errorf("%s: with the head at %d found %+v", name, at, f)
			}
		}
		// The note alone exposes it too, unless it was forged as well.
		f := check(t, forgery, func(c *trail.Check) { c.Notes, c.Records = filepath.Join(folder, "trail"), false })
		if f.Verified {
			t.Errorf("%s: with the note found %+v", name, f)
		}
	}
}

func without(entries []audit.Entry, release string) []audit.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e audit.Entry) bool { return e.Release == release })
}

func readAll(t *testing.T, folder string) []audit.Entry {
	t.Helper()
	var entries []audit.Entry
	if err := journal.ReadFiles(folder, "TRAIL", func(m journal.Stored) error {
		var e audit.Entry
		entries = append(entries, e)
		return json.Unmarshal(m.Data, &entries[len(entries)-1])
	}); err != nil {
		t.Fatal(err)
	}
	return entries
}

// forge writes a new chain of these entries, as a knowledgeable attacker would.
func forge(t *testing.T, entries []audit.Entry) string {
	t.Helper()
	folder := t.TempDir()
	j, err := journal.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Store(t.Context(), journal.StoreOptions{Name: "TRAIL", Subjects: []string{"trail.*.*"}, AppendOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	hash := func(data []byte) string { sum := sha256.Sum256(data); return hex.EncodeToString(sum[:]) }
	previous := ""
	for i, e := range entries {
		e.Position, e.Previous = uint64(i+1), previous
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		previous = hash(data)
		subject := "trail." + hash([]byte(e.Cluster))[:32] + "." + hash([]byte(e.Namespace + "/" + e.Release))[:32]
		if _, err := s.Append(context.Background(), journal.Message{Subject: subject, Headers: map[string]string{"Helmtrail-Hash": previous}, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

// NATS truncates a file at the first damaged message. The server then reports
// what is missing, keeps a copy of the file, and continues so that the gap
// stays visible.
func TestAMessageDroppedByNATSStaysReported(t *testing.T) {
	folder, before := kept(t)
	path := file(t, folder, "TRAIL")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(content[:len(content)/2], []byte(`"position":`))
	damaged := bytes.Clone(content)
	damaged[at+30] ^= 1
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	first := check(t, folder, func(c *trail.Check) { c.Records = false })
	// Without its index NATS has to read the file, as after a crash.
	if err := os.Remove(filepath.Join(filepath.Dir(path), "index.db")); err != nil {
		t.Fatal(err)
	}

	c := newCluster(t)
	r := start(t, folder, c)
	c.install(state{name: "later"})
	r.settle()
	for _, verify := range []bool{false, true} {
		state := r.state(verify)
		if state.Verified || state.Broken != first.Broken || state.Entries <= before.Entries {
			t.Errorf("the server's state is %+v, want entry %d missing", state, first.Broken)
		}
	}
	r.end()
	copies, err := filepath.Glob(filepath.Join(folder, "damaged", "*"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies: %v, %v", copies, err)
	}
	if preserved, err := os.ReadFile(copies[0]); err != nil || !bytes.Equal(preserved, damaged) {
		t.Errorf("the copy differs from the original file: %v", err)
	}

	r = start(t, folder, c)
	if state := r.state(false); state.Verified || state.Broken != first.Broken {
		t.Errorf("after another start the server's state is %+v", state)
	}
	entries, _, err := r.Entries(t.Context(), query(first.Broken-1))
	if err != nil || len(entries) == 0 || entries[0].Position <= first.Broken {
		t.Errorf("entries after the hole: %+v, %v", entries, err)
	}
	r.end()
	if f := check(t, folder); f.Verified || f.Broken != first.Broken || !strings.Contains(f.Problem, "missing") {
		t.Errorf("verify finds %+v", f)
	}
}

// If NATS leaves a damaged entry in its file, the other entries stay readable,
// and the place of the damaged entry is reported.
func TestADamagedEntryKeepsItsPlace(t *testing.T) {
	for name, part := range map[string]float64{"first": 0, "middle": 0.5, "last": 1} {
		t.Run(name, func(t *testing.T) {
			folder, before := kept(t)
			path := file(t, folder, "TRAIL")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			last := bytes.LastIndex(content, []byte(`{"position":`))
			at := bytes.Index(content[int(part*float64(last)):], []byte(`{"position":`)) + int(part*float64(last))
			content[at+len(`{"position":`)+20] ^= 1
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			broken := check(t, folder, func(c *trail.Check) { c.Records = false }).Broken
			c := newCluster(t)
			r := start(t, folder, c)
			c.install(state{name: "later"})
			r.settle()
			if state := r.state(true); state.Verified || state.Broken != broken || state.Entries <= before.Entries {
				t.Errorf("the server's state is %+v, want entry %d of %d broken", state, broken, before.Entries)
			}
			if diff := cmp.Diff([]string{"transition 1 pending-install", "transition 1 deployed"}, r.lines("later")); diff != "" {
				t.Errorf("the later entries (-want +got):\n%s", diff)
			}
			entries, _, err := r.Entries(t.Context(), query(0))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Position == broken && e.Kind != audit.KindUnreadable {
					t.Errorf("the damaged entry's position has %+v", e)
				}
			}
			r.end()
			if f := check(t, folder); f.Verified || f.Broken != broken {
				t.Errorf("verify finds %+v, want entry %d broken", f, broken)
			}
		})
	}
}

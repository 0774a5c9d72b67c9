package trail_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// Retention erases the bytes of deleted revisions in the order of their
// deletion, and records this in the chain, which loses nothing.
func TestRetentionErasesDeletedRevisionsByAge(t *testing.T) {
	folder, c := t.TempDir(), newCluster(t)
	r := start(t, folder, c, func(s *trail.Setup) { s.Keep = time.Hour })
	c.install(state{name: "web"})
	c.upgrade(state{name: "web", number: 2}, 10)
	c.install(state{name: "gone"})
	c.uninstall(state{name: "gone", number: 1})
	c.remove("shop", "web", 1)
	r.settle()
	gone, web := r.Lineages(release("gone"))[0].Revisions[0], r.Lineages(release("web"))[0].Revisions
	if err := r.Retain(t.Context(), time.Now().Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(t.Context(), gone.Digest); err != nil {
		t.Errorf("a record that is too young: %v", err)
	}
	if err := r.Retain(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	verified := func(r *running) {
		t.Helper()
		for _, digest := range []string{gone.Digest, web[0].Digest} {
			if _, err := r.Record(t.Context(), digest); !errors.Is(err, helmtrail.ErrErased) {
				t.Errorf("an erased record: %v, want %v", err, helmtrail.ErrErased)
			}
		}
		if _, err := r.Record(t.Context(), web[1].Digest); err != nil {
			t.Errorf("a record that is in the cluster: %v", err)
		}
		if rev := r.Lineages(release("web"))[0].Revisions; !rev[0].Erased || rev[1].Erased {
			t.Errorf("the revisions are %+v", rev)
		}
		if state := r.state(true); !state.Verified {
			t.Errorf("the chain is %+v", state)
		}
	}
	verified(r)
	want := []string{
		"transition 1 pending-install", "transition 1 deployed", "transition 1 uninstalling", "transition 1 uninstalled", "erased 1",
	}
	if diff := cmp.Diff(want, r.lines("gone")); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	// Running it again erases nothing more.
	before := r.state(false).Entries
	if err := r.Retain(t.Context(), time.Now().Add(2*time.Hour)); err != nil || r.state(false).Entries != before {
		t.Errorf("erasing again: %v, %d entries more", err, r.state(false).Entries-before)
	}
	if _, err := r.Record(t.Context(), "0000000000000000000000000000000000000000000000000000000000000000"); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("a record that never existed: %v", err)
	}
	r.end()
	if f := check(t, folder); !f.Verified || f.Erased != 6 {
		t.Errorf("verify finds %+v", f)
	}
	r = start(t, folder, c, func(s *trail.Setup) { s.Keep = time.Hour })
	verified(r)
	r.end()
}

// Beyond the size limit, the records of the revisions deleted first are erased
// first, and no more than necessary.
func TestRetentionErasesDeletedRevisionsBySize(t *testing.T) {
	const large = 900 << 10
	folder, c := t.TempDir(), newCluster(t)
	r := start(t, folder, c, func(s *trail.Setup) { s.Size = 8 * large })
	defer r.end()
	for _, name := range []string{"first", "second", "third"} {
		c.install(state{name: name, padding: large})
		if name != "third" {
			c.remove("shop", name)
		}
	}
	r.settle()
	if err := r.Retain(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"first": helmtrail.ErrErased, "second": nil, "third": nil} {
		if _, err := r.Record(t.Context(), r.Lineages(release(name))[0].Revisions[0].Digest); !errors.Is(err, want) {
			t.Errorf("the record of %s: %v, want %v", name, err, want)
		}
	}
}

// Identical records of two clusters, as in a backup restored elsewhere, are
// stored once, and kept as long as one of the clusters has them.
func TestRetentionKeepsRecordsOfAnotherCluster(t *testing.T) {
	folder, c, other := t.TempDir(), newCluster(t), newCluster(t)
	r := start(t, folder, c, func(s *trail.Setup) { s.Keep, s.Clusters = time.Hour, []string{"dev", "other"} })
	defer r.end()
	if _, err := r.Watch("other", other); err != nil {
		t.Fatal(err)
	}
	other.watched.Store(true)
	for _, one := range []*cluster{c, other} {
		one.install(state{name: "web"})
	}
	c.remove("shop", "web")
	r.settle()
	revision := func(cluster string, gone decoder.Change) audit.Revision {
		ref := release("web")
		ref.Cluster = cluster
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if lives := r.Lineages(ref); len(lives) > 0 && lives[0].Revisions[0].Status == decoder.StatusDeployed && lives[0].Revisions[0].Gone == gone {
				return lives[0].Revisions[0]
			}
			if time.Now().After(deadline) {
				t.Fatalf("in the trail of cluster %s, no revision is %q", cluster, gone)
			}
		}
	}
	gone, there := revision("dev", decoder.ChangeRemoved), revision("other", "")
	if gone.Digest != there.Digest {
		t.Fatalf("the revisions are %+v and %+v", gone, there)
	}
	later := time.Now().Add(2 * time.Hour)
	if err := r.Retain(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(t.Context(), there.Digest); err != nil {
		t.Errorf("a record that the other cluster has: %v", err)
	}
	other.remove("shop", "web")
	revision("other", decoder.ChangeRemoved)
	if err := r.Retain(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(t.Context(), there.Digest); !errors.Is(err, helmtrail.ErrErased) {
		t.Errorf("a record that no cluster has: %v, want %v", err, helmtrail.ErrErased)
	}
	if state := r.state(true); !state.Verified {
		t.Errorf("the chain is %+v", state)
	}
}

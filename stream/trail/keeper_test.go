package trail_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// Nothing is lost while the queue is full: the watch has to wait.
func TestAFullQueueHoldsUpTheWatch(t *testing.T) {
	c := newCluster(t)
	var setup trail.Setup
	r := start(t, t.TempDir(), c, func(s *trail.Setup) { s.QueueBytes = 1 << 20; setup = *s })
	defer r.end()
	// Open a second trail on the same journal; it does not run yet.
	second, err := trail.Open(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	other := newCluster(t)
	if _, err := second.Watch("dev", other); err != nil {
		t.Fatal(err)
	}
	other.watched.Store(true)
	const releases = 5
	queued := make(chan int, releases)
	var watching sync.WaitGroup
	watching.Go(func() {
		for n := range releases {
			other.write(state{name: fmt.Sprint("r", n), number: 1, status: decoder.StatusDeployed, padding: 400 << 10})
			queued <- n
		}
	})
	<-queued
	select {
	case n := <-queued:
		t.Errorf("%d records of half the queue's size fit into it", n+1)
	case <-time.After(100 * time.Millisecond):
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- second.Run(ctx) }()
	watching.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for n := range releases {
		lineages := second.Lineages(release(fmt.Sprint("r", n)))
		if len(lineages) != 1 {
			t.Fatalf("release %d is not in the trail", n)
		}
		if _, err := second.Record(t.Context(), lineages[0].Revisions[0].Digest); err != nil {
			t.Errorf("release %d: %v", n, err)
		}
	}
	// The first trail's next entry follows the entries of the second.
	if err := r.Reveal(t.Context(), audit.Reveal{Release: release("r1"), Revision: 1, User: "ann", What: "values of revision 1"}); err != nil {
		t.Fatal(err)
	}
	if state := r.state(true); !state.Verified || state.Entries < releases {
		t.Errorf("after two writers the chain is %+v", state)
	}
	entries, _, err := r.Entries(t.Context(), audit.Query{Cluster: "dev", User: "ann"})
	if err != nil || len(entries) != 1 || entries[0].Kind != audit.KindReveal || entries[0].What != "values of revision 1" {
		t.Errorf("the entry is %+v, %v", entries, err)
	}
}

// A namespace that was deleted and created again has lineages of its own.
func TestLineagesOfADeletedNamespaceAreNotCurrent(t *testing.T) {
	c := newCluster(t)
	r := start(t, t.TempDir(), c)
	defer r.end()
	c.install(state{name: "web"})
	c.remove("shop", "web")
	r.settle()
	c.namespaces.Store("shop", "uid-of-another-shop")
	if l := r.Lineages(release("web")); len(l) != 1 || l[0].Current {
		t.Errorf("after the namespace was created again: %+v", l)
	}
	c.install(state{name: "web"}) // at the same time, as in a restored backup
	r.settle()
	l := r.Lineages(release("web"))
	if len(l) != 2 || !l[0].Current || l[1].Current || l[0].ID == l[1].ID {
		t.Errorf("the lineages are %+v", l)
	}
	if diff := cmp.Diff([]helmtrail.ReleaseRef{release("web")}, r.Releases("dev", "shop")); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// A cluster may be removed and added again while the trail runs.
func TestAClusterIsAddedAndRemoved(t *testing.T) {
	r := start(t, t.TempDir(), newCluster(t))
	defer r.end()
	if _, err := r.State(t.Context(), "other", false); !errors.Is(err, helmtrail.ErrNotFound) {
		t.Errorf("the state of an unknown cluster: %v", err)
	}
	other := newCluster(t)
	for n, want := range [][]string{
		{"transition 1 deployed"},
		{"transition 1 deployed", "gap 0", "transition 1 removed late"},
	} {
		stop, err := r.Watch("other", other)
		if err != nil {
			t.Fatal(err)
		}
		other.watched.Store(true)
		other.keeper.Synced("")
		if n == 0 {
			other.write(state{name: "web", number: 1, status: decoder.StatusDeployed})
		}
		if _, err := r.Watch("other", other); err == nil {
			t.Error("a cluster is watched twice")
		}
		stop()
		other.watched.Store(false)
		entries, _, err := r.Entries(t.Context(), audit.Query{Cluster: "other"})
		var got []string
		for _, e := range entries {
			got = append(got, line(e))
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("entries at visit %d: %v (-want +got):\n%s", n, err, diff)
		}
		other.remove("shop", "web")
	}
	if state, err := r.State(t.Context(), "other", true); err != nil || !state.Verified {
		t.Errorf("the state is %+v, %v", state, err)
	}
}

// Queries select the right entries of the trail, and their pages are
// contiguous.
func TestEntriesAreSelectedAndPaged(t *testing.T) {
	c := newCluster(t)
	c.namespaces.Store("other", "uid-other")
	r := start(t, t.TempDir(), c)
	defer r.end()
	for n := range 5 {
		c.install(state{name: fmt.Sprint("r", n)})
		c.install(state{namespace: "other", name: fmt.Sprint("r", n)})
	}
	r.settle()
	all, more, err := r.Entries(t.Context(), audit.Query{Cluster: "dev"})
	if err != nil || more || len(all) < 20 {
		t.Fatalf("%d entries, more %v, %v", len(all), more, err)
	}
	var paged []audit.Entry
	for more = true; more; {
		var page []audit.Entry
		q := audit.Query{Cluster: "dev", Limit: 3}
		if len(paged) > 0 {
			q.After = paged[len(paged)-1].Position
		}
		if page, more, err = r.Entries(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page...)
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("pages (-at once +paged):\n%s", diff)
	}
	for i, e := range all {
		if e.Position != uint64(i+1) {
			t.Errorf("entry %d has the position %d", i+1, e.Position)
		}
	}
	count := func(q audit.Query) (n int) {
		q.Cluster = "dev"
		entries, _, err := r.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Kind != audit.KindGap {
				n++
			}
		}
		return n
	}
	if n := count(audit.Query{Namespace: "other"}); n != 10 {
		t.Errorf("%d entries of a namespace, want 10", n)
	}
	if n := count(audit.Query{Namespace: "other", Release: "r1"}); n != 2 {
		t.Errorf("%d entries of a release, want 2", n)
	}
	if n := count(audit.Query{Release: "r1"}); n != 4 {
		t.Errorf("%d entries of releases of a name, want 4", n)
	}
	if n := count(audit.Query{Since: time.Now().Add(time.Hour)}); n != 0 {
		t.Errorf("%d entries from the future", n)
	}
}

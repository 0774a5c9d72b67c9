package trail_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a trail that records the changes in a cluster.
type running struct {
	*trail.Trail
	t       testing.TB
	folder  string
	journal *journal.Journal
	cluster *cluster
	stop    context.CancelFunc
	ended   chan error
}

// options changes a trail's setup.
type options func(*trail.Setup)

// start opens the trail of a folder and watches the cluster.
func start(t testing.TB, folder string, c *cluster, more ...options) *running {
	t.Helper()
	j, err := journal.Open(t.Context(), folder, trail.GuardedStream)
	if err != nil {
		t.Fatal(err)
	}
	setup := trail.Setup{Journal: j, Folder: filepath.Join(folder, "trail"), Clusters: []string{"dev"}, Logger: slog.New(slog.DiscardHandler)}
	for _, change := range more {
		change(&setup)
	}
	opened, err := trail.Open(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Trail: opened, t: t, folder: folder, journal: j, cluster: c, ended: make(chan error, 1)}
	if _, err := opened.Watch("dev", c); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- opened.Run(ctx) }()
	c.watched.Store(true)
	c.keeper.Synced("")
	r.settle()
	return r
}

// end stops the trail as a server does during shutdown.
func (r *running) end() {
	r.t.Helper()
	r.cluster.watched.Store(false)
	r.stop()
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
	if err := r.journal.Close(); err != nil {
		r.t.Error(err)
	}
}

func release(name string) helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: name}
}

// settle waits until everything passed to the keeper is stored, including the
// records that were read as a result.
func (r *running) settle() {
	r.t.Helper()
	r.barrier()
	r.barrier()
}

// barrier waits until an item queued now is stored.
func (r *running) barrier() {
	r.t.Helper()
	before := r.state(false).Entries
	r.cluster.keeper.Missed("barrier", begin)
	deadline := time.Now().Add(30 * time.Second)
	for {
		entries, _, err := r.Entries(r.t.Context(), audit.Query{Cluster: "dev", After: before, Namespace: "barrier"})
		if err != nil {
			r.t.Fatal(err)
		}
		if slices.ContainsFunc(entries, func(e audit.Entry) bool { return e.Namespace == "barrier" }) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatal("the queued items were not stored")
		}
		time.Sleep(time.Millisecond)
	}
}

func (r *running) state(verify bool) audit.State {
	r.t.Helper()
	state, err := r.State(r.t.Context(), "dev", verify)
	if err != nil {
		r.t.Fatal(err)
	}
	return state
}

// lines returns a short form of a release's entries.
func (r *running) lines(name string) []string {
	r.t.Helper()
	entries, more, err := r.Entries(r.t.Context(), audit.Query{Cluster: "dev", Namespace: "shop", Release: name})
	if err != nil || more {
		r.t.Fatal(err, more)
	}
	var lines []string
	for _, e := range entries {
		if e.Kind != audit.KindGap {
			lines = append(lines, line(e))
		}
	}
	return lines
}

func line(e audit.Entry) string {
	text := fmt.Sprintf("%s %d", e.Kind, e.Revision)
	if e.Kind == audit.KindTransition && e.Change != decoder.ChangeStatus {
		text += " " + string(e.Change)
	} else if e.Status != "" {
		text += " " + string(e.Status)
	}
	if e.Late {
		text += " late"
	}
	return text
}

func query(after uint64) audit.Query { return audit.Query{Cluster: "dev", After: after} }

func entryOf(revision int, status decoder.Status) audit.Entry {
	return audit.Entry{Kind: audit.KindTransition, Change: decoder.ChangeStatus, Revision: revision, Status: status}
}

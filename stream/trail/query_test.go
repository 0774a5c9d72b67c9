package trail_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/audit"
)

// A caller that may read little of a long trail does not wait for the rest:
// unreadable entries are skipped without being read, however many there are.
func TestUnreadableEntriesAreSkippedUnread(t *testing.T) {
	c := newCluster(t)
	r := start(t, t.TempDir(), c)
	for n := range 300 {
		c.install(state{name: fmt.Sprint("web-", n)})
	}
	c.install(state{namespace: "mine", name: "web"})
	c.keeper.Missed("", begin.Add(time.Hour))
	c.install(state{name: "last"})
	r.settle()
	readable := func(namespaces ...string) audit.Query {
		return audit.Query{Cluster: "dev", Readable: func(_ context.Context, namespace string) (bool, error) {
			for _, one := range namespaces {
				if one == namespace {
					return true, nil
				}
			}
			return false, nil
		}}
	}
	get := func(q audit.Query) (lines []string, more bool) {
		t.Helper()
		entries, more, err := r.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			lines = append(lines, e.Namespace+"/"+e.Release+" "+line(e))
		}
		return lines, more
	}
	mine := readable("mine")
	want := []string{"mine/web transition 1 pending-install", "mine/web transition 1 deployed", "/ gap 0"}
	if got, more := get(mine); cmp.Diff(want, got) != "" || more {
		t.Errorf("the own entries and the gap (-want +got):\n%s\nmore %v", cmp.Diff(want, got), more)
	}
	mine.Limit = 2
	if got, more := get(mine); len(got) != 2 || !more {
		t.Errorf("a page of two is %q, more %v", got, more)
	}
	mine.Limit = 3
	if got, more := get(mine); len(got) != 3 || more {
		t.Errorf("a page of three is %q, more %v", got, more)
	}
	mine.Limit = 0
	for year, want := range map[int]int{1: 3, 1500: 3, 9999: 0} {
		q := mine
		q.Since = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if got, _ := get(q); len(got) != want {
			t.Errorf("since the year %d: %q", year, got)
		}
	}
	failing := mine
	unknown := errors.New("the API server does not answer")
	failing.Readable = func(context.Context, string) (bool, error) { return false, unknown }
	if _, _, err := r.Entries(t.Context(), failing); !errors.Is(err, unknown) {
		t.Errorf("a permission that cannot be reviewed: %v", err)
	}

	// Without the journal nothing can be read, and unreadable entries need no read.
	found, _, err := r.Entries(t.Context(), readable("mine"))
	if err != nil {
		t.Fatal(err)
	}
	none := readable()
	none.After = found[2].Position // the gap, which every caller may read
	r.end()
	if entries, more, err := r.Entries(t.Context(), none); err != nil || len(entries) > 0 || more {
		t.Errorf("of the unreadable entries got %d, more %v, %v", len(entries), more, err)
	}
	if _, _, err := r.Entries(t.Context(), audit.Query{Cluster: "dev", Release: "last"}); err == nil {
		t.Error("readable entries were returned without the journal")
	}
}

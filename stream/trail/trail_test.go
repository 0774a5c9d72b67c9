package trail_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// Every revision stays readable after Helm has pruned it and the release was
// uninstalled. Installing the same name again starts another lineage.
func TestLineagesOfAName(t *testing.T) {
	c := newCluster(t)
	r := start(t, t.TempDir(), c)
	defer r.end()
	c.install(state{name: "web"})
	for n := 2; n <= 12; n++ {
		c.upgrade(state{name: "web", number: n}, 3)
	}
	c.uninstall(state{name: "web", number: 12})
	c.install(state{name: "web", first: begin.AddDate(0, 0, 1)})
	r.settle()

	lineages := r.Lineages(release("web"))
	if len(lineages) != 2 {
		t.Fatalf("%d lineages, want 2", len(lineages))
	}
	if lineages[0].ID == lineages[1].ID || !lineages[0].Current || !lineages[1].Current {
		t.Errorf("the lineages are %+v", lineages)
	}
	var got []string
	for _, l := range lineages {
		for _, rev := range l.Revisions {
			got = append(got, fmt.Sprintf("%s %d %s %s", l.FirstDeployed.Format("02"), rev.Number, rev.Status, rev.Gone))
			data, err := r.Record(t.Context(), rev.Digest)
			if err != nil {
				t.Errorf("the record of revision %d: %v", rev.Number, err)
				continue
			}
			record, err := decoder.DecodeRecord(data, decoder.Limits{})
			if err != nil || record.Version != rev.Number || record.Status != rev.Status {
				t.Errorf("the record of revision %d is of %d, %s: %v", rev.Number, record.Version, record.Status, err)
			}
		}
	}
	want := []string{"01 1 deployed "}
	for n := 1; n <= 9; n++ {
		want = append(want, fmt.Sprintf("30 %d superseded pruned", n))
	}
	want = append(want, "30 10 superseded uninstalled", "30 11 superseded uninstalled", "30 12 uninstalling uninstalled")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
	if err := r.Reveal(t.Context(), audit.Reveal{Release: release("web"), Revision: 1, User: "ann", What: "values"}); err != nil {
		t.Fatal(err)
	}
	entries, _, err := r.Entries(t.Context(), audit.Query{Cluster: "dev", User: "ann"})
	if err != nil || len(entries) != 1 || entries[0].Kind != audit.KindReveal || entries[0].Lineage != lineages[0].ID {
		t.Errorf("entries of revealed secrets: %+v, %v", entries, err)
	}
	if state := r.state(true); !state.Verified || state.Entries == 0 {
		t.Errorf("the chain does not verify: %+v", state)
	}
}

// Entries are kept permanently and shown to many, so they contain no content of
// a record.
func TestEntriesHoldNoContentOfRecords(t *testing.T) {
	folder, c := t.TempDir(), newCluster(t)
	r := start(t, folder, c)
	c.install(state{name: "web"})
	c.upgrade(state{name: "web", number: 2}, 1)
	c.uninstall(state{name: "web", number: 2})
	r.settle()
	r.end()
	for stream, want := range map[string]bool{"TRAIL": false, "RECORDS": true} {
		content, err := os.ReadFile(file(t, folder, stream))
		if err != nil {
			t.Fatal(err)
		}
		// The content of each record begins as base64 of {"chart": ...
		if got := bytes.Contains(content, []byte("canary")) || bytes.Contains(content, []byte("eyJjaGFydCI6")); got != want {
			t.Errorf("content of records in %s: %v, want %v", stream, got, want)
		}
	}
}

// A record that is lost from the disk is read again while its revision is in
// the cluster.
func TestALostRecordIsReadAgain(t *testing.T) {
	folder, c := t.TempDir(), newCluster(t)
	r := start(t, folder, c)
	rev := c.write(state{name: "web", number: 1, status: decoder.StatusDeployed})
	r.settle()
	before := r.lines("web")
	r.end()
	if err := os.RemoveAll(filepath.Join(folder, "jetstream", "$G", "streams", "RECORDS")); err != nil {
		t.Fatal(err)
	}
	if f := check(t, folder); f.Verified || !strings.Contains(f.Problem, "missing") {
		t.Errorf("verify finds %+v", f)
	}
	r = start(t, folder, c)
	defer r.end()
	if _, err := r.Record(t.Context(), rev.Digest); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, r.lines("web")); diff != "" {
		t.Errorf("entries (-before +after):\n%s", diff)
	}
}

// A restart on an unchanged cluster appends the gap and nothing else.
func TestARestartAppendsTheGapAndTheChanges(t *testing.T) {
	folder, c := t.TempDir(), newCluster(t)
	c.install(state{name: "old"})
	r := start(t, folder, c)
	c.install(state{name: "web"})
	c.upgrade(state{name: "web", number: 2}, 10)
	c.install(state{name: "gone"})
	r.settle()
	if diff := cmp.Diff([]string{"found 1 deployed"}, r.lines("old")); diff != "" {
		t.Errorf("the earlier entries (-want +got):\n%s", diff)
	}
	r.end()
	before := r.state(false)

	r = start(t, folder, c)
	r.settle()
	entries, _, err := r.Entries(t.Context(), query(before.Entries))
	entries = slices.DeleteFunc(entries, func(e audit.Entry) bool { return e.Namespace == "barrier" })
	if err != nil || len(entries) != 1 || entries[0].Kind != "gap" || entries[0].From.IsZero() || entries[0].Previous != before.Head {
		t.Errorf("after a restart without changes there is %+v, %v", entries, err)
	}
	r.end()
	if c.wanted != 1 {
		t.Errorf("%d records were read again, want 1 at the first start", c.wanted)
	}

	c.upgrade(state{name: "web", number: 3}, 10)
	c.write(state{name: "old", number: 1, status: decoder.StatusDeployed, padding: 1})
	c.remove("shop", "gone")
	r = start(t, folder, c)
	defer r.end()
	r.settle()
	for name, want := range map[string][]string{
		"old":  {"found 1 deployed", "rewritten 1 deployed"},
		"gone": {"transition 1 pending-install", "transition 1 deployed", "transition 1 removed late"},
		"web": {
			"transition 1 pending-install", "transition 1 deployed", "transition 2 pending-upgrade", "transition 1 superseded", "transition 2 deployed",
			"transition 2 superseded late", "found 3 deployed",
		},
	} {
		if diff := cmp.Diff(want, r.lines(name)); diff != "" {
			t.Errorf("entries of %s (-want +got):\n%s", name, diff)
		}
	}
	if state := r.state(true); !state.Verified {
		t.Errorf("the chain does not verify: %+v", state)
	}
}

package web_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
	"github.com/helmtrail/helmtrail/web"
	"github.com/helmtrail/helmtrail/web/history"
)

// seenCluster is a cluster as the trail sees it. Tests report its changes.
type seenCluster struct {
	keeper audit.Keeper
	mu     sync.Mutex
	// namespaces are the UIDs of the existing namespaces.
	namespaces map[string]string
}

func (c *seenCluster) Keep(keeper audit.Keeper)          { c.keeper = keeper }
func (*seenCluster) All(string) []*decoder.Revision      { return nil }
func (*seenCluster) Want(*decoder.Revision)              {}
func (*seenCluster) Watching(string) bool                { return true }
func (*seenCluster) UID(context.Context) (string, error) { return "cluster-1", nil }
func (c *seenCluster) NamespaceUID(_ context.Context, namespace string) (string, error) {
	return c.KnownNamespaceUID(namespace), nil
}

func (*seenCluster) NamespacesKnown() bool { return true }

func (c *seenCluster) KnownNamespaceUID(namespace string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namespaces[namespace]
}

// past is an archive with a trail that sees every change of the cluster.
type past struct {
	*archive
	cluster *seenCluster
	trail   *trail.Trail
	// close closes the trail's journal.
	close    func() error
	reported uint64
}

func newPast(t *testing.T, adjust ...func(*web.Options)) *past {
	t.Helper()
	p := &past{cluster: &seenCluster{namespaces: map[string]string{"shop": "shop-1", "prod": "prod-1"}}}
	kept, err := journal.Open(t.Context(), t.TempDir(), trail.GuardedStream)
	if err != nil {
		t.Fatal(err)
	}
	p.close = sync.OnceValue(kept.Close)
	p.trail, err = trail.Open(t.Context(), trail.Setup{
		Journal: kept, Folder: t.TempDir(), Clusters: []string{"dev"}, Keep: time.Hour, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.trail.Watch("dev", p.cluster); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- p.trail.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	p.archive = newArchive(t, append(adjust, func(o *web.Options) {
		o.Trail = p.trail
		if o.MayReveal == nil {
			o.MayReveal = func(helmtrail.ReleaseRef) error { return nil }
		}
	})...)
	return p
}

// put stores a revision in the cluster and reports it to the trail.
func (p *past) put(t *testing.T, s shop) {
	t.Helper()
	revision, data := p.archive.put(t, s)
	p.cluster.keeper.Record(revision, data)
	p.see(t, decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: revision})
}

// remove removes a revision from the cluster.
func (p *past) remove(t *testing.T, number int, change decoder.Change) {
	t.Helper()
	gone := p.releases.remove("shop", "web", number)
	p.stored.mu.Lock()
	delete(p.stored.records, storedKey("shop", "web", number))
	p.stored.mu.Unlock()
	p.see(t, decoder.Transition{Time: time.Now(), Change: change, Revision: gone})
}

// see reports a transition to the trail and waits until it is stored.
func (p *past) see(t *testing.T, transition decoder.Transition) {
	t.Helper()
	p.cluster.keeper.See(transition)
	p.reported++
	p.settled(t)
}

func (p *past) settled(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		state, err := p.trail.State(t.Context(), "dev", false)
		if err != nil {
			t.Fatal(err)
		}
		if state.Entries >= p.reported {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("the trail has %d entries, want %d", state.Entries, p.reported)
		}
	}
}

// remove removes a revision from the watch's state.
func (s *releases) remove(namespace, name string, number int) *decoder.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.revisions, func(r *decoder.Revision) bool {
		return r.Namespace == namespace && r.Name == name && r.Number == number
	})
	gone := s.revisions[at]
	s.revisions = slices.Delete(slices.Clone(s.revisions), at, at+1)
	s.version++
	return gone
}

// lineage returns the record of a revision of the release web. The month is that of
// the lineage's first deployment; the tag is its only value.
func lineage(month, tag string) string {
	return `"info":{"status":"superseded","description":"Upgrade complete","first_deployed":"2026-` + month + `-01T10:00:00Z","last_deployed":"2026-` + month + `-02T10:00:00Z"},` +
		`"config":{"tag":"` + tag + `","db":{"password":"` + canary + `"}},"manifest":"kind: Pod\nmetadata: {name: a}\nspec: {tag: ` + tag + `}\n"`
}

func (p *past) values(t *testing.T, number, query string) map[string]any {
	t.Helper()
	r := p.do(http.MethodGet, shopURL+"/web/revisions/"+number+"/values"+query, "")
	var values map[string]any
	r.decode(http.StatusOK, &values)
	if strings.Contains(r.body, canary) {
		t.Errorf("revision %s%s holds the canary: %s", number, query, r.body)
	}
	return values
}

// https://github.com/helm/helm/issues/10550
func TestDeletedRevisionsStayReadableAndComparable(t *testing.T) {
	p := newPast(t)
	for number, tag := range []string{"", "a", "b", "c"} {
		if number > 0 {
			p.put(t, shop{revision: number, status: "superseded", record: lineage("01", tag)})
		}
	}
	p.remove(t, 1, decoder.ChangePruned)
	h := p.history("")
	if diff := cmp.Diff([]string{"3 superseded", "2 superseded", "1 superseded pruned"}, h.rows()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if len(h.Lineages) != 1 || h.Lineages[0].Revisions != 3 || !h.Lineages[0].InCluster || h.Items[2].Lineage != h.Lineages[0].ID || h.Items[0].Lineage != h.Lineages[0].ID {
		t.Errorf("lineages are %+v", h.Lineages)
	}
	if h.Items[2].Description != "Upgrade complete" || h.Items[2].Digest == "" || h.Items[2].Size == 0 {
		t.Errorf("the pruned revision is shown as %+v", h.Items[2])
	}
	if got := p.values(t, "1", "")["tag"]; got != "a" {
		t.Errorf("revision 1 has tag %v, want a", got)
	}
	var difference struct {
		Values []struct{ Path, Change string }
	}
	p.do(http.MethodGet, shopURL+"/web/diff?from=1&to=3", "").decode(http.StatusOK, &difference)
	if want := []struct{ Path, Change string }{{"tag", "changed"}}; cmp.Diff(want, difference.Values) != "" {
		t.Errorf("values differ by %v, want %v", difference.Values, want)
	}
	p.do(http.MethodGet, shopURL+"/web/revisions/9/values", "").wantError(http.StatusNotFound, "not_found")

	// A release that is uninstalled completely no longer exists, but has a history.
	p.remove(t, 2, decoder.ChangeUninstalled)
	p.remove(t, 3, decoder.ChangeUninstalled)
	message, details := p.do(http.MethodGet, shopURL+"/web", "").wantError(http.StatusNotFound, "not_found")
	if details["history"] != shopURL+"/web/history" || details["trail"] != shopURL+"/web/trail" {
		t.Errorf("%q has the details %v", message, details)
	}
	if diff := cmp.Diff([]string{"3 superseded uninstalled", "2 superseded uninstalled", "1 superseded pruned"}, p.history("").rows()); diff != "" {
		t.Errorf("history of the uninstalled release (-want +got):\n%s", diff)
	}
	first := p.history("").Lineages[0].ID
	var newest struct{ From, To struct{ Revision int } }
	p.do(http.MethodGet, shopURL+"/web/diff", "").decode(http.StatusOK, &newest)
	if newest.From.Revision != 2 || newest.To.Revision != 3 {
		t.Errorf("by default %d is compared with %d, want 2 with 3", newest.From.Revision, newest.To.Revision)
	}

	// Another install of the same name starts another lineage.
	p.put(t, shop{revision: 1, status: "superseded", record: lineage("07", "z"), uid: "-again"})
	h = p.history("")
	if diff := cmp.Diff([]string{"1 superseded"}, h.rows()); diff != "" || len(h.Lineages) != 2 || h.Lineages[1].ID != first || h.Lineages[1].InCluster {
		t.Errorf("history of the new lineage (-want +got):\n%s\nlineages %+v", diff, h.Lineages)
	}
	if diff := cmp.Diff([]string{"3 superseded uninstalled", "2 superseded uninstalled", "1 superseded pruned"}, p.history("?lineage="+first).rows()); diff != "" {
		t.Errorf("history of the old lineage (-want +got):\n%s", diff)
	}
	if old, today := p.values(t, "1", "?lineage="+first)["tag"], p.values(t, "1", "")["tag"]; old != "a" || today != "z" {
		t.Errorf("revision 1 had the tag %v and has %v, want a and z", old, today)
	}
	p.do(http.MethodGet, shopURL+"/web/revisions/3/values", "").wantError(http.StatusNotFound, "not_found")
	p.do(http.MethodGet, shopURL+"/web/history?lineage=none", "").wantError(http.StatusNotFound, "not_found")
	p.do(http.MethodGet, shopURL+"/web/diff?from=1&fromLineage="+first+"&to=1", "").decode(http.StatusOK, &difference)
	if want := []struct{ Path, Change string }{{"tag", "changed"}}; cmp.Diff(want, difference.Values) != "" {
		t.Errorf("across lineages values differ by %v, want %v", difference.Values, want)
	}
	// Other releases have no such history.
	p.do(http.MethodGet, shopURL+"/other/history?lineage="+first, "").wantError(http.StatusNotFound, "not_found")
}

func TestErasedRevisionsAreReportedAsErased(t *testing.T) {
	p := newPast(t)
	for number := 1; number <= 2; number++ {
		p.put(t, shop{revision: number, status: "superseded", record: lineage("01", "tag")})
	}
	p.remove(t, 1, decoder.ChangePruned)
	if got := p.values(t, "1", "")["tag"]; got != "tag" {
		t.Errorf("before the retention its tag is %v", got)
	}
	if err := p.trail.Retain(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	h := p.history("")
	if diff := cmp.Diff([]string{"2 superseded", "1 superseded pruned erased"}, h.rows()); diff != "" || h.Items[1].Problem == "" {
		t.Errorf("history (-want +got):\n%s\nproblem %q", diff, h.Items[1].Problem)
	}
	for _, path := range []string{"/web/revisions/1/values", "/web/revisions/1/values?reveal=true", "/web/diff?from=1&to=2"} {
		p.do(http.MethodGet, shopURL+path, "").wantError(http.StatusGone, "gone")
	}
}

// A state may be overwritten, and its Secret deleted, before it was read.
func TestAnUnreadRevisionIsListed(t *testing.T) {
	p := newPast(t)
	p.put(t, shop{revision: 2, status: "superseded", record: lineage("01", "tag")})
	unread := revision("shop", "web", 1, "superseded")
	unread.Header, unread.Secret.UID = nil, "unread"
	p.see(t, decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: unread, Late: true})
	p.see(t, decoder.Transition{Time: time.Now(), Change: decoder.ChangePruned, Revision: unread})
	h := p.history("")
	if diff := cmp.Diff([]string{"2 superseded", "1 superseded pruned unreadable"}, h.rows()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	p.do(http.MethodGet, shopURL+"/web/revisions/1/values", "").wantError(http.StatusGone, "gone")
}

// altered is a trail whose records were altered on the disk.
type altered struct{ history.Trail }

func (altered) Record(context.Context, string) ([]byte, error) { return nil, helmtrail.ErrAltered }

func TestAnAlteredRecordIsNeverShown(t *testing.T) {
	p := newPast(t)
	p.put(t, shop{revision: 1, status: "superseded", record: lineage("01", "tag")})
	p.remove(t, 1, decoder.ChangeUninstalled)
	server := newArchive(t, func(o *web.Options) { o.Trail = altered{p.trail} })
	if diff := cmp.Diff([]string{"1 superseded uninstalled unreadable"}, server.history("").rows()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	message, _ := server.do(http.MethodGet, shopURL+"/web/revisions/1/values", "").wantError(http.StatusUnprocessableEntity, "unreadable")
	if !strings.Contains(message, "altered") {
		t.Errorf("the message is %q", message)
	}
}

// A Secret may be a copy under the name of another revision.
func TestAnomaliesOfACopyAreNotReportedForTheOriginal(t *testing.T) {
	p := newPast(t)
	record := "{" + lineage("01", "a") + `,"name":"web","namespace":"shop","version":1,"chart":{"metadata":{"name":"web","version":"1.2.3"}}}`
	copied := base64.StdEncoding.EncodeToString([]byte(record))
	p.put(t, shop{revision: 1, status: "superseded", data: copied})
	p.put(t, shop{revision: 2, status: "superseded", data: copied})
	p.put(t, shop{revision: 3, status: "superseded", record: lineage("01", "c")})
	p.remove(t, 1, decoder.ChangePruned)
	p.remove(t, 2, decoder.ChangePruned)
	want := []string{"3 superseded", "2 superseded pruned revision", "1 superseded pruned"}
	for _, query := range []string{"", "?limit=10"} { // The second answer comes from the cache.
		if diff := cmp.Diff(want, p.history(query).rows()); diff != "" {
			t.Errorf("history%s (-want +got):\n%s", query, diff)
		}
	}
}

package web_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web"
)

// revision returns a decoded revision.
func revision(namespace, name string, number int, status decoder.Status) *decoder.Revision {
	return &decoder.Revision{
		Namespace: namespace, Name: name, Number: number, LabelStatus: status,
		Secret: decoder.SecretRef{
			Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, number), UID: "u", ResourceVersion: fmt.Sprint(number, status),
		},
		Created: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		Header: &decoder.Header{
			Name: name, Status: status, Description: "Install complete", Chart: "nginx", ChartVersion: "1.2.3", AppVersion: "1.27",
			LastDeployed: time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC),
		},
	}
}

type releaseItem struct {
	Cluster, Namespace, Name, Status, LabelStatus, Description, Chart, ChartVersion, AppVersion, Updated, Problem string
	Revision                                                                                                      int
	Stuck                                                                                                         any
	Session                                                                                                       *string
}

type releaseList struct {
	Items            []releaseItem
	Continue, Cursor string
}

func (l releaseList) names() []string {
	names := []string{}
	for _, i := range l.Items {
		names = append(names, i.Namespace+"/"+i.Name)
	}
	return names
}

func TestListShowsTheNewestRevisionOfEveryRelease(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 9, decoder.StatusSuperseded), revision("shop", "web", 10, decoder.StatusDeployed))
	unreadable := revision("shop", "old", 1, decoder.StatusDeployed)
	unreadable.Header, unreadable.Problem = nil, "not gzip"
	f.releases.put(unreadable)
	liar := revision("bank", "api", 1, decoder.StatusFailed)
	liar.LabelStatus = decoder.StatusPendingInstall
	f.releases.put(liar)
	id, _ := f.install("web")

	var got releaseList
	f.do(http.MethodGet, "/dev/releases", "").decode(http.StatusOK, &got)
	want := []releaseItem{
		{
			Cluster: "dev", Namespace: "bank", Name: "api", Revision: 1, Status: "failed", LabelStatus: "pending-install", Description: "Install complete",
			Chart: "nginx", ChartVersion: "1.2.3", AppVersion: "1.27", Updated: "2026-11-01T11:00:00Z",
		},
		{Cluster: "dev", Namespace: "shop", Name: "old", Revision: 1, Status: "deployed", Problem: "not gzip", Updated: "2026-11-01T10:00:00Z"},
		{
			Cluster: "dev", Namespace: "shop", Name: "web", Revision: 10, Status: "deployed", Description: "Install complete",
			Chart: "nginx", ChartVersion: "1.2.3", AppVersion: "1.27", Updated: "2026-11-01T11:00:00Z", Session: &id,
		},
	}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	var one releaseItem
	f.do(http.MethodGet, shopURL+"/web", "").decode(http.StatusOK, &one)
	if diff := cmp.Diff(want[2], one); diff != "" {
		t.Errorf("one release (-want +got):\n%s", diff)
	}
	f.do(http.MethodGet, shopURL+"/none", "").wantError(http.StatusNotFound, "not_found")
}

func TestListIsFilteredAndPaged(t *testing.T) {
	f := newFixture(t)
	for i := range 7 {
		status := decoder.StatusDeployed
		if i%3 == 0 {
			status = decoder.StatusFailed
		}
		f.releases.put(revision("b", fmt.Sprint("web-", i), 1, status), revision("a", fmt.Sprint("db-", i), 1, status))
	}
	f.releases.put(revision("b.c", "x", 1, decoder.StatusDeployed), revision("a-b", "y", 1, decoder.StatusDeployed))
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/dev/namespaces/b/releases?status=failed", []string{"b/web-0", "b/web-3", "b/web-6"}},
		{"/dev/releases?status=failed,superseded&q=DB", []string{"a/db-0", "a/db-3", "a/db-6"}},
		{"/dev/releases?q=web-1", []string{"b/web-1"}},
		{"/dev/releases?q=b.c", []string{"b.c/x"}},
		{"/dev/releases?q=nGiNx&limit=1", []string{"a/db-0"}},
		{"/dev/namespaces/a-b/releases", []string{"a-b/y"}},
		{"/dev/namespaces/none/releases", []string{}},
	} {
		var got releaseList
		f.do(http.MethodGet, c.path, "").decode(http.StatusOK, &got)
		if diff := cmp.Diff(c.want, got.names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}

	for _, base := range []string{"/dev/releases?limit=5", "/dev/namespaces/b/releases?limit=3"} {
		var whole, page releaseList
		f.do(http.MethodGet, base+"00", "").decode(http.StatusOK, &whole)
		var paged []string
		for next := ""; ; next = "&continue=" + page.Continue {
			page = releaseList{}
			f.do(http.MethodGet, base+next, "").decode(http.StatusOK, &page)
			paged = append(paged, page.names()...)
			if page.Continue == "" {
				break
			}
		}
		if diff := cmp.Diff(whole.names(), paged); diff != "" {
			t.Errorf("%s: pages (-whole +paged):\n%s", base, diff)
		}
	}
	for _, query := range []string{"limit=0", "limit=x", "limit=5001", "continue=!", "continue=YQ"} {
		f.do(http.MethodGet, "/dev/releases?"+query, "").wantError(http.StatusBadRequest, "bad_request")
	}
}

func TestUnchangedPollIs304(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusPendingInstall))
	paths := []string{"/dev/releases", shopURL, shopURL + "/web"}
	tags := map[string]string{}
	poll := func(status int) {
		t.Helper()
		for _, path := range paths {
			r := f.do(http.MethodGet, path, "", "If-None-Match", tags[path])
			if r.status != status || status == http.StatusNotModified && r.body != "" {
				t.Fatalf("%s: %d %q, want %d", path, r.status, r.body, status)
			}
			tags[path] = r.header.Get("ETag")
		}
	}
	poll(http.StatusOK)
	poll(http.StatusNotModified)
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	poll(http.StatusOK)
	poll(http.StatusNotModified)
	id, p := f.install("web")
	poll(http.StatusOK) // A session is running now.
	p.end()
	f.listen(sessionEvents("web", id)).all()
	f.waitUntilIdle(p.ref.Release)
	poll(http.StatusOK)
	poll(http.StatusNotModified)
}

func TestUnsyncedClusterIsNeverAnEmptyList(t *testing.T) {
	f := newFixture(t)
	paths := []string{"/dev/releases", shopURL, shopURL + "/web"}
	f.state = func() web.ClusterState { return web.ClusterState{Reachable: true} }
	for _, path := range paths {
		f.do(http.MethodGet, path, "").wantError(http.StatusServiceUnavailable, "unavailable")
	}
	f.state = func() web.ClusterState { return web.ClusterState{Problem: "connection refused"} }
	for _, path := range paths {
		f.do(http.MethodGet, path, "").wantError(http.StatusServiceUnavailable, "unreachable_cluster")
	}
	_, details := f.do(http.MethodGet, "/readyz", "").wantError(http.StatusServiceUnavailable, "unavailable")
	want := []any{"Cluster dev cannot be reached. connection refused"}
	if diff := cmp.Diff(want, details["notReady"]); diff != "" {
		t.Errorf("notReady (-want +got):\n%s", diff)
	}
	if r := f.do(http.MethodGet, "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("healthz: %d", r.status)
	}
	// The last known state is shown while the cluster is unreachable.
	f.state = func() web.ClusterState { return web.ClusterState{Synced: true, Problem: "connection refused"} }
	for _, path := range []string{"/dev/releases", "/readyz"} {
		if r := f.do(http.MethodGet, path, ""); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	var clusters struct{ Items []map[string]any }
	f.do(http.MethodGet, "/clusters", "").decode(http.StatusOK, &clusters)
	wantClusters := []map[string]any{{
		"id": "dev", "server": "https://127.0.0.1:6443", "helmVersion": "v4.3.2", "reachable": false, "synced": true, "problem": "connection refused",
	}}
	if diff := cmp.Diff(wantClusters, clusters.Items); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}

package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

// newBenchServer serves a cluster of 5,000 releases.
func newBenchServer(b *testing.B) *web.Server {
	b.Helper()
	known := &releases{version: 1}
	for i := range 5000 {
		known.revisions = append(known.revisions, revision(fmt.Sprint("ns-", i%100), fmt.Sprint("release-", i), 1, decoder.StatusDeployed))
	}
	server, err := web.New(web.Options{
		Clusters: []web.Cluster{{
			ID: "dev", Releases: known, State: func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} },
		}},
		Operations: stream.NewOperations(stream.Setup{}),
		Pages:      newFixturePages(),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	return server
}

// BenchmarkList requests all of 5,000 releases, a page of them, and lists that have
// not changed, which are answered with 304.
func BenchmarkList(b *testing.B) {
	server := newBenchServer(b)
	get := func(path, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		name, path string
		unchanged  bool
	}{
		{"all", "/dev/releases?limit=5000", false},
		{"page", "/dev/releases", false},
		{"unchanged all", "/dev/releases?limit=5000", true},
		{"unchanged page", "/dev/releases", true},
		{"unchanged namespace", "/dev/namespaces/ns-7/releases", true},
		{"unchanged release", "/dev/namespaces/ns-7/releases/release-7", true},
	} {
		b.Run(c.name, func(b *testing.B) {
			tag, want := "", http.StatusOK
			if c.unchanged {
				tag, want = get(c.path, "").Header().Get("ETag"), http.StatusNotModified
			}
			b.ReportAllocs()
			for b.Loop() {
				if w := get(c.path, tag); w.Code != want {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}

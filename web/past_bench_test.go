package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
	"github.com/helmtrail/helmtrail/web"
)

const (
	pastReleases  = 1000
	pastRevisions = 12
	// heldRevisions is how many revisions of each release the cluster still holds.
	heldRevisions = 3
)

// benchRecord is a record of ten objects and thirty values, as Helm stores it.
func benchRecord(b *testing.B, name string, number int) []byte {
	b.Helper()
	var manifest, values strings.Builder
	for i := range 10 {
		fmt.Fprintf(&manifest, `---\n# Source: web/templates/object%[1]d.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %[2]s-%[1]d\n  labels: {app: %[2]s, revision: \"%[3]d\"}\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - name: main\n        image: registry.example.com/%[2]s:%[3]d\n        env:\n        - {name: LEVEL, value: \"%[3]d\"}\n        resources: {limits: {cpu: 500m, memory: 256Mi}}\n`, i, name, number)
	}
	for i := range 30 {
		fmt.Fprintf(&values, `,"value%d":{"text":"%s %d","number":%d}`, i, name, i, number)
	}
	record := fmt.Sprintf(`{"name":%[1]q,"info":{"first_deployed":"2026-01-01T10:00:00Z","last_deployed":"2026-01-%02[2]dT10:00:00Z","status":"superseded","description":"Upgrade complete"},`+
		`"chart":{"metadata":{"name":"web","version":"1.2.3"}},"config":{"db":{"password":"Zq9-canary-7f"}%[3]s},"manifest":"%[4]s","version":%[2]d,"namespace":"shop"}`, name, number, &values, &manifest)
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	if _, err := zipped.Write([]byte(record)); err != nil {
		b.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		b.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
}

// newBenchPast returns a function that starts a server with empty caches. Its cluster
// has 1,000 releases, and the trail 12 revisions of each.
func newBenchPast(b *testing.B) func() *httptest.Server {
	b.Helper()
	quiet := slog.New(slog.DiscardHandler)
	kept, err := journal.Open(b.Context(), b.TempDir(), trail.GuardedStream)
	if err != nil {
		b.Fatal(err)
	}
	entries, err := trail.Open(b.Context(), trail.Setup{Journal: kept, Folder: b.TempDir(), Clusters: []string{"dev"}, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	cluster := &seenCluster{namespaces: map[string]string{"shop": "shop-1"}}
	if _, err := entries.Watch("dev", cluster); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- entries.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := kept.Close(); err != nil {
			b.Error(err)
		}
	})

	known, held := &releases{version: 1}, &stored{records: map[string][]byte{}}
	reported := uint64(0)
	for number := 1; number <= pastRevisions; number++ {
		for i := range pastReleases {
			name := fmt.Sprint("web-", i)
			data := benchRecord(b, name, number)
			revision, ok := decoder.NewRevision(decoder.Secret{
				Namespace: "shop", Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, number), UID: fmt.Sprint(name, number), ResourceVersion: fmt.Sprint(number), Created: time.Unix(int64(number), 0),
				Labels: map[string]string{"owner": "helm", "name": name, "version": fmt.Sprint(number), "status": "superseded"},
			}, data, decoder.Limits{})
			if !ok {
				b.Fatal("the Secret has no revision")
			}
			cluster.keeper.Record(revision, data)
			cluster.keeper.See(decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: revision})
			reported++
			if number > pastRevisions-heldRevisions {
				known.revisions = append(known.revisions, revision)
				held.records[storedKey("shop", name, number)] = data
				continue
			}
			cluster.keeper.See(decoder.Transition{Time: time.Now(), Change: decoder.ChangePruned, Revision: revision})
			reported++
		}
	}
	for state := (audit.State{}); state.Entries < reported; time.Sleep(10 * time.Millisecond) {
		if state, err = entries.State(b.Context(), "dev", false); err != nil {
			b.Fatal(err)
		}
	}
	indexed := newIndexed(known)
	return func() *httptest.Server {
		server, err := web.New(web.Options{
			Clusters: []web.Cluster{{
				ID: "dev", Releases: indexed, Objects: held, State: func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} },
			}},
			Operations: stream.NewOperations(stream.Setup{Journal: kept, Logger: quiet}), Trail: entries, Pages: newFixturePages(), Logger: quiet,
		})
		if err != nil {
			b.Fatal(err)
		}
		listening := httptest.NewServer(server)
		b.Cleanup(func() {
			server.Close()
			listening.Close()
		})
		return listening
	}
}

// indexed finds a release's revisions as fast as the real watch.
type indexed struct {
	*releases
	byName map[string][]*decoder.Revision
}

func newIndexed(all *releases) *indexed {
	x := &indexed{releases: all, byName: map[string][]*decoder.Revision{}}
	for _, r := range all.revisions {
		x.byName[r.Name] = append(x.byName[r.Name], r)
	}
	return x
}

func (x *indexed) Revisions(_, name string) []*decoder.Revision { return x.byName[name] }

// BenchmarkPast measures an auditor's requests: each about another release on a server
// with empty caches, and then about the same release again.
func BenchmarkPast(b *testing.B) {
	fresh := newBenchPast(b)
	get := func(b *testing.B, server *httptest.Server, path, accept string) int64 {
		b.Helper()
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		response, err := server.Client().Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			b.Fatalf("%s answers %d, %v", path, response.StatusCode, err)
		}
		return size
	}
	for _, c := range []struct{ name, path string }{
		{"history", "/history"},
		{"pruned part", "/revisions/1/manifest"},
		{"diff of pruned", "/diff?from=1&to=9"},
		{"trail", "/trail"},
	} {
		path := func(i int) string { return fmt.Sprintf("%s/web-%d%s", shopURL, i%pastReleases, c.path) }
		b.Run(c.name+"/first", func(b *testing.B) {
			b.ReportAllocs()
			var server *httptest.Server
			for i := 0; b.Loop(); i++ {
				if i%pastReleases == 0 {
					b.StopTimer()
					server = fresh()
					b.StartTimer()
				}
				get(b, server, path(i), "")
			}
		})
		b.Run(c.name+"/again", func(b *testing.B) {
			b.ReportAllocs()
			server := fresh()
			get(b, server, path(7), "")
			for b.Loop() {
				get(b, server, path(7), "")
			}
		})
	}
	for _, c := range []struct{ name, path, accept string }{
		{"whole trail as lines", "/dev/trail", "application/x-ndjson"}, {"whole trail verified", "/dev/trail?limit=1&verify=true", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			server := fresh()
			var size int64
			for b.Loop() {
				size = get(b, server, c.path, c.accept)
			}
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
}

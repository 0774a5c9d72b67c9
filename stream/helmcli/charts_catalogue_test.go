package helmcli

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/stream/uploads"
)

var shop = catalog.Scope{Cluster: "dev", Namespace: "shop"}

// withoutHelm returns a Helm without a binary. It can still list and read charts on
// the server.
func withoutHelm(t *testing.T, config Config) *Helm {
	t.Helper()
	config.Binary = filepath.Join(t.TempDir(), "helm")
	folder := t.TempDir()
	store, err := uploads.Open(filepath.Join(folder, "charts"), uploads.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	config.Folder, config.Uploads = filepath.Join(folder, "sessions"), store
	config.Logger = slog.New(slog.DiscardHandler)
	h, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// writeChart unpacks a chart's files below a folder.
func writeChart(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChartsAreListed(t *testing.T) {
	dir := t.TempDir()
	writeChart(t, filepath.Join(dir, "web"), chartFiles("web", "1.0.0"))
	writeChart(t, filepath.Join(dir, "team", "db"), chartFiles("db", "2.0.0"))
	writeChart(t, filepath.Join(dir, "broken"), map[string]string{"Chart.yaml": "name: [", "values.yaml": ""})
	writeChart(t, filepath.Join(dir, "lib"), map[string]string{"Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n"})
	writeChart(t, dir, map[string]string{"api-3.0.0.tgz": string(archive(t, "api", chartFiles("api", "3.0.0"))), "notes.txt": "x", "-bad/Chart.yaml": "name: bad"})
	server := serveCharts(t, true)
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)

	h := withoutHelm(t, Config{ChartDir: dir, ChartHosts: listed(t, server.host), Repositories: []Repository{{"own", server.URL + "/charts"}, {"gone", down.URL}}})
	uploaded, err := h.UploadChart(t.Context(), shop, bytes.NewReader(archive(t, "mine", chartFiles("mine", "4.0.0"))))
	if err != nil {
		t.Fatal(err)
	}
	items, problems := h.ListCharts(t.Context(), shop)
	one := func(ref string, source catalog.Source, name, version string) catalog.Item {
		return catalog.Item{
			Ref: ref, Source: source, Name: name, Description: "A small chart.",
			Versions: []catalog.ItemVersion{{Version: version, AppVersion: "7"}},
		}
	}
	want := []catalog.Item{
		one("api-3.0.0.tgz", catalog.FromDirectory, "api", "3.0.0"),
		one("team/db", catalog.FromDirectory, "db", "2.0.0"),
		one("web", catalog.FromDirectory, "web", "1.0.0"),
		one(uploaded.Ref, catalog.FromUpload, "mine", "4.0.0"),
		{
			Ref: "small", Repo: "own", Source: catalog.FromRepository, Name: "small", Description: "A small chart.",
			Versions: []catalog.ItemVersion{{Version: "1.2.3", AppVersion: "7"}, {Version: "1.0.0", Deprecated: true}},
		},
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("charts (-want +got):\n%s", diff)
	}
	var where []string
	for _, p := range problems {
		where = append(where, p.Where)
		if strings.Contains(p.Message, dir) {
			t.Errorf("%s: the message shows the server's path: %s", p.Where, p.Message)
		}
	}
	if diff := cmp.Diff([]string{"broken", "gone"}, where); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestChartsAreDescribed(t *testing.T) {
	dir := t.TempDir()
	writeChart(t, filepath.Join(dir, "small"), chartFiles("small", "1.2.3"))
	server := serveCharts(t, true)
	check := func(h *Helm, c helmtrail.Chart) {
		t.Helper()
		got, err := h.DescribeChart(t.Context(), shop, helmtrail.ChartFetch{Chart: c})
		if err != nil {
			t.Error(err)
			return
		}
		if !strings.Contains(string(got.Metadata), `"version":"1.2.3"`) || got.Values != "# How much.\nsize: 1\n" || got.Readme != "# small\n" || !strings.Contains(string(got.Schema), "integer") {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
	h := withoutHelm(t, Config{ChartDir: dir, ChartHosts: listed(t, server.host)})
	check(h, helmtrail.Chart{Ref: "small"})
	if _, err := h.DescribeChart(t.Context(), shop, helmtrail.ChartFetch{Chart: helmtrail.Chart{Ref: "small", Repo: server.URL + "/charts"}}); !errors.Is(err, helmtrail.ErrNoHelm) {
		t.Errorf("got %v, want an error that helm is missing", err)
	}
	for _, major := range []int{3, 4} {
		h := realHelm(t, major, Config{ChartDir: dir, ChartHosts: listed(t, server.host), Repositories: []Repository{{"own", server.URL + "/charts"}}})
		check(h, helmtrail.Chart{Ref: "small", Repo: "own", Version: "^1"})
		check(h, helmtrail.Chart{Ref: server.URL + "/charts/small-1.2.3.tgz"})
		_, err := h.DescribeChart(t.Context(), shop, helmtrail.ChartFetch{Chart: helmtrail.Chart{Ref: "absent", Repo: "own"}})
		if !errors.Is(err, helmtrail.ErrNoChart) || !strings.Contains(err.Error(), "absent") {
			t.Errorf("got %v, want helm's own error", err)
		}
	}
}

func TestInvalidChartsAreNotKept(t *testing.T) {
	h := withoutHelm(t, Config{})
	library := chartFiles("lib", "1.0.0")
	library["Chart.yaml"] += "type: library\n"
	outside := chartFiles("web", "1.0.0")
	outside["../../outside"] = "x"
	nameless := chartFiles("", "1.0.0")
	for what, data := range map[string][]byte{
		"nothing":                  nil,
		"not an archive":           []byte("apiVersion: v2"),
		"a truncated archive":      archive(t, "web", chartFiles("web", "1.0.0"))[:200],
		"a library":                archive(t, "lib", library),
		"a path outside the chart": archive(t, "web", outside),
		"no name":                  archive(t, "web", nameless),
	} {
		_, err := h.UploadChart(t.Context(), shop, bytes.NewReader(data))
		invalid := (*helmtrail.InvalidError)(nil)
		if !errors.As(err, &invalid) || strings.Contains(err.Error(), ".upload-") {
			t.Errorf("%s: got %v, want an error", what, err)
		}
	}
	if items, _ := h.ListCharts(t.Context(), shop); len(items) != 0 {
		t.Errorf("listed %v", items)
	}
}

func TestASessionKeepsTheUploadOfItsNamespace(t *testing.T) {
	h := withoutHelm(t, Config{})
	uploaded, err := h.UploadChart(t.Context(), shop, bytes.NewReader(archive(t, "web", chartFiles("web", "1.0.0"))))
	if err != nil {
		t.Fatal(err)
	}
	request := helmtrail.Request{Operation: helmtrail.OperationInstall, Chart: helmtrail.Chart{Ref: uploaded.Ref}}
	for _, foreign := range []helmtrail.ReleaseRef{{Cluster: "dev", Namespace: "other"}, {Cluster: "prod", Namespace: "shop"}} {
		request.Release = foreign
		if _, err := h.Prepare(helmtrail.SessionRef{ID: "foreign"}, request); err == nil || !strings.Contains(err.Error(), "upload it again") {
			t.Errorf("%v: got %v, want an error that there is no such upload", foreign, err)
		}
	}
	request.Release = helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop"}
	session := helmtrail.SessionRef{ID: "s"}
	p, err := h.Prepare(session, request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	path, err := h.localChart(shop, uploaded.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := h.localChart(shop, uploaded.Ref); err == nil || !strings.Contains(err.Error(), "upload it again") {
		t.Errorf("got %v, want an error that the archive is gone", err)
	}
	if _, err := loadChart(h.chartPath(session.ID, request.Chart)); err != nil {
		t.Errorf("the session has lost its chart: %v", err)
	}
}

package web_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/helmcli"
	"github.com/helmtrail/helmtrail/stream/repository"
	"github.com/helmtrail/helmtrail/stream/uploads"
	"github.com/helmtrail/helmtrail/web"
)

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.2.3\ndescription: Pages.\n"

// withCharts gives the server a chart directory and uploads, but no Helm.
func withCharts(t *testing.T) func(*web.Options, *stream.Setup) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"team/web/Chart.yaml": chartYAML, "team/web/values.yaml": "# Pods.\nreplicas: 1\n", "team/web/README.md": "# web",
		"api/Chart.yaml": strings.Replace(chartYAML, "name: web", "name: api", 1),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hosts, err := repository.ParseHosts([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	uploaded, err := uploads.Open(filepath.Join(data, "charts"), uploads.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	h, err := helmcli.New(t.Context(), helmcli.Config{
		Binary: filepath.Join(data, "helm"), Folder: filepath.Join(data, "sessions"), Uploads: uploaded,
		ChartDir: dir, ChartHosts: hosts, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *web.Options, _ *stream.Setup) { o.Charts = h }
}

type chartList struct {
	Items    []catalog.Item
	Continue string
}

func TestChartsAreListedPageByPage(t *testing.T) {
	f := newFixture(t, withCharts(t))
	var refs []string
	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		var list chartList
		f.do(http.MethodGet, "/charts?limit=1&continue="+url.QueryEscape(next), "").decode(http.StatusOK, &list)
		for _, i := range list.Items {
			refs = append(refs, i.Ref)
		}
		next = list.Continue
	}
	if got := strings.Join(refs, " "); got != "api team/web" {
		t.Errorf("got %q", got)
	}
	var list chartList
	f.do(http.MethodGet, "/charts?q=WEB", "").decode(http.StatusOK, &list)
	if len(list.Items) != 1 || list.Items[0].Ref != "team/web" {
		t.Errorf("q=WEB lists %+v", list.Items)
	}
	f.do(http.MethodGet, "/charts?continue=x", "").wantError(http.StatusBadRequest, "bad_request")
}

func TestAChartIsDescribed(t *testing.T) {
	f := newFixture(t, withCharts(t))
	for _, path := range []string{"/charts/team/web", "/charts/team%2Fweb"} {
		var details catalog.Details
		f.do(http.MethodGet, path, "").decode(http.StatusOK, &details)
		if !strings.Contains(string(details.Metadata), `"version":"1.2.3"`) || details.Values != "# Pods.\nreplicas: 1\n" || details.Readme != "# web" {
			t.Errorf("%s: %+v", path, details)
		}
	}
	for path, want := range map[string]int{
		"/charts/absent":                          http.StatusNotFound,
		"/charts/../../etc/passwd":                http.StatusBadRequest,
		"/charts/%2E%2E%2Fetc":                    http.StatusBadRequest,
		"/charts/x?repo=file:///etc":              http.StatusBadRequest,
		"/charts/oci:%2F%2Fuser:pw@example.com/x": http.StatusBadRequest,
		"/charts/oci://charts.invalid/x":          http.StatusServiceUnavailable,
	} {
		if r := f.do(http.MethodGet, path, ""); r.status != want {
			t.Errorf("%s: %d %s, want %d", path, r.status, r.body, want)
		}
	}
}

// packedChart returns the archive of a chart without templates.
func packedChart(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: "web/Chart.yaml", Mode: 0o644, Size: int64(len(chartYAML)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(chartYAML)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func TestAChartIsUploaded(t *testing.T) {
	f := newFixture(t, withCharts(t))
	var item catalog.Item
	r := f.do(http.MethodPost, "/charts", packedChart(t))
	r.decode(http.StatusCreated, &item)
	if item.Source != catalog.FromUpload || item.Name != "web" || item.Versions[0].Version != "1.2.3" {
		t.Errorf("kept %+v", item)
	}
	var details catalog.Details
	f.do(http.MethodGet, r.header.Get("Location"), "").decode(http.StatusOK, &details)
	if details.Ref != item.Ref || !strings.Contains(string(details.Metadata), `"name":"web"`) {
		t.Errorf("described as %+v", details)
	}
	f.do(http.MethodPost, "/charts?namespace=shop", "junk").wantError(http.StatusBadRequest, "bad_request")
	f.do(http.MethodPost, "/charts", strings.Repeat("x", 32<<20+1)).wantError(http.StatusRequestEntityTooLarge, "too_large")
}

func TestAnUploadBelongsToItsNamespace(t *testing.T) {
	f := newFixture(t, withCharts(t))
	var item catalog.Item
	r := f.do(http.MethodPost, "/charts?namespace=shop", packedChart(t))
	r.decode(http.StatusCreated, &item)
	if want := "/charts/" + url.PathEscape(item.Ref) + "?cluster=dev&namespace=shop"; r.header.Get("Location") != want {
		t.Errorf("Location is %s, want %s", r.header.Get("Location"), want)
	}
	for query, want := range map[string]int{
		"?cluster=dev&namespace=shop":    http.StatusOK,
		"?namespace=shop":                http.StatusOK,
		"?namespace=other":               http.StatusNotFound,
		"":                               http.StatusNotFound,
		"?cluster=absent&namespace=shop": http.StatusNotFound,
		"?cluster=dev":                   http.StatusBadRequest,
		"?namespace=..":                  http.StatusBadRequest,
		"?namespace=shop%2F..%2Fshop":    http.StatusBadRequest,
		"?namespace=Shop":                http.StatusBadRequest,
	} {
		if r := f.do(http.MethodGet, "/charts/"+item.Ref+query, ""); r.status != want {
			t.Errorf("%s: %d %s, want %d", query, r.status, r.body, want)
		}
		var list chartList
		r := f.do(http.MethodGet, "/charts"+query, "")
		if want == http.StatusBadRequest {
			r.wantError(want, "bad_request")
			continue
		}
		if r.status != http.StatusOK {
			r.wantError(http.StatusNotFound, "not_found") // an unknown cluster
			continue
		}
		r.decode(http.StatusOK, &list)
		listed := slices.ContainsFunc(list.Items, func(i catalog.Item) bool { return i.Ref == item.Ref })
		if listed != (want == http.StatusOK) {
			t.Errorf("%s: the upload is listed: %v", query, listed)
		}
	}
	for _, query := range []string{"?cluster=dev", "?namespace=..", "?namespace=a/b", "?cluster=absent&namespace=shop"} {
		if r := f.do(http.MethodPost, "/charts"+query, packedChart(t)); r.status == http.StatusCreated {
			t.Errorf("an upload to %s was accepted", query)
		}
	}
}

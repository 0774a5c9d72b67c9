package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

func load(t *testing.T, archive []byte) *chart.Chart {
	t.Helper()
	read, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func recordOf(t *testing.T, c *chart.Chart) *decoder.Record {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": "web", "chart": c})
	if err != nil {
		t.Fatal(err)
	}
	return &decoder.Record{Metadata: c.Metadata, Raw: raw}
}

var original = &chart.Chart{
	Metadata: &chart.Metadata{
		APIVersion: "v2", Name: "web", Version: "1.10", AppVersion: "007", Description: "yes: no", KubeVersion: ">=1.20",
		Annotations: map[string]string{"kept": "\"quoted\"\nand long"},
	},
	Values:    map[string]any{"number": 12345678901.0, "text": "0x10", "list": []any{"a", nil}, "empty": map[string]any{}},
	Schema:    []byte(`{"type":"object"}`),
	Templates: []*chart.File{{Name: "templates/a.yaml", Data: []byte("a: {{ .Values.text }}\r\n")}},
	Files:     []*chart.File{{Name: "crds/b.yaml", Data: []byte("b: 1\n")}, {Name: "binary", Data: []byte{0, 255, 10}}},
}

// A chart rebuilt from its record must render like the one that was installed.
func TestAChartIsRebuiltFromItsRecord(t *testing.T) {
	archive, err := rebuild(recordOf(t, original))
	if err != nil {
		t.Fatal(err)
	}
	got := load(t, archive)
	for _, part := range []struct {
		name      string
		want, got any
	}{
		{"metadata", original.Metadata, got.Metadata}, {"values", original.Values, got.Values}, {"schema", original.Schema, got.Schema},
		{"templates", original.Templates, got.Templates}, {"files", original.Files, got.Files},
	} {
		if diff := cmp.Diff(part.want, part.got); diff != "" {
			t.Errorf("%s (-recorded +rebuilt):\n%s", part.name, diff)
		}
	}
	again, err := rebuild(recordOf(t, original))
	if err != nil || !bytes.Equal(archive, again) {
		t.Errorf("the same record results in another archive: %v", err)
	}
}

func TestAChartWithSubchartsIsNotRebuilt(t *testing.T) {
	parent := *original
	metadata := *original.Metadata
	metadata.Dependencies = []*chart.Dependency{{Name: "db", Version: "1"}}
	parent.Metadata = &metadata
	if _, err := rebuild(recordOf(t, &parent)); !errors.Is(err, errSubcharts) {
		t.Errorf("the error is %v, want an error that the record has no subcharts", err)
	}
}

func TestAnnotationsAreAddedAndNothingElseChanges(t *testing.T) {
	archive, err := rebuild(recordOf(t, original))
	if err != nil {
		t.Fatal(err)
	}
	marked, err := annotate(archive, map[string]string{annotationURL: "https://charts.example.com/web-1.10.tgz"})
	if err != nil {
		t.Fatal(err)
	}
	before, after := load(t, archive), load(t, marked)
	before.Metadata.Annotations[annotationURL] = "https://charts.example.com/web-1.10.tgz"
	if diff := cmp.Diff(before.Metadata, after.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Templates, after.Templates); diff != "" {
		t.Errorf("templates (-before +after):\n%s", diff)
	}
	if _, err := annotate([]byte("no archive"), nil); err == nil {
		t.Error("an invalid archive was annotated")
	}
}

// The results have the form of Helm 4's encoding, whichever Helm wrote the record.
func TestZeroTimesAreOmitted(t *testing.T) {
	raw := `{"name":"web","version":1,"namespace":"shop","info":{"status":"deployed","deleted":"","notes":"","first_deployed":"2026-01-02T03:04:05Z"},
		"hooks":[{"name":"h","last_run":{"started_at":"","completed_at":"","phase":""}}],"config":{"big":12345678901234567890}}`
	record := &decoder.Record{Raw: json.RawMessage(raw)}
	shown, err := newRelease(record, &decoder.Revision{Name: "web", Namespace: "shop", Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"web","info":{"first_deployed":"2026-01-02T03:04:05Z","notes":"","status":"deployed"},"config":{"big":12345678901234567890},` +
		`"hooks":[{"last_run":{"phase":""},"name":"h"}],"version":1,"namespace":"shop"}`
	if diff := cmp.Diff(want, strings.TrimSpace(string(httpapi.EncodeJSON(shown)))); diff != "" {
		t.Errorf("release (-want +got):\n%s", diff)
	}
}

func TestIndexesAreMerged(t *testing.T) {
	entry := func(kubeVersion, content string) catalog.Entry {
		return catalog.Entry{KubeVersion: kubeVersion, Content: json.RawMessage(content)}
	}
	entries := catalog.Index{"web": {
		entry(">=1.99", `{"name":"web","version":"2.0.0","kubeVersion":">=1.99","urls":["https://charts.example.com/stable/web-2.0.0.tgz"]}`),
		entry("", `{"name":"web","version":"1.0.0","urls":["https://elsewhere.example.com/web-1.0.0.tgz"],"unknown":"kept"}`),
	}}
	merged, err := mergeIndexes(
		repositoriesNamed("own", "broken", "own"),
		[]repositoryIndex{{entries: entries}, {problem: "it is down"}, {entries: catalog.Index{"web": {entry("", `{"name":"other"}`)}}}},
		"v1.37.2",
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `annotations:
  console-warning: '[{"name":"broken","error":"it is down"}]'
apiVersion: v1
entries:
  web--own:
  - name: web
    unknown: kept
    urls:
    - https://elsewhere.example.com/web-1.0.0.tgz
    version: 1.0.0
`
	if diff := cmp.Diff(want, string(merged)); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	all, err := mergeIndexes(repositoriesNamed("own"), []repositoryIndex{{entries: entries}}, "")
	if err != nil || !strings.Contains(string(all), "https://charts.example.com/stable/web-2.0.0.tgz") {
		t.Errorf("without a version: %s, %v", all, err)
	}
}

func repositoriesNamed(names ...string) []helmtrail.ChartRepository {
	var list []helmtrail.ChartRepository
	for _, name := range names {
		list = append(list, helmtrail.ChartRepository{Name: name})
	}
	return list
}

package compare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/compare"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// fixture is a record written by a real Helm.
func fixture(t *testing.T, name string) *decoder.Record {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var secret struct{ Data map[string][]byte }
	if err := yaml.Unmarshal(content, &secret); err != nil {
		t.Fatal(err)
	}
	record, err := decoder.DecodeRecord(secret.Data["release"], decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestRecordsAreComparedByTheirParts(t *testing.T) {
	for _, helm := range []string{"helm3", "helm4"} {
		first, second := fixture(t, helm+"/web.v1"), fixture(t, helm+"/web.v2")
		differs, err := compare.Records(first, second, compare.Parts, false)
		if err != nil {
			t.Fatal(err)
		}
		if differs.Identical() || len(differs.Manifest) != 1 || len(differs.Hooks) != 0 || len(differs.Chart) != 0 || !strings.Contains(differs.Notes, "-web runs 1 × nginx:first.") {
			t.Errorf("%s: 1 and 2 differ by %+v", helm, differs)
		}
		paths := func(values []compare.Value) string {
			var all []string
			for _, v := range values {
				all = append(all, v.Path+" "+string(v.Change))
			}
			return strings.Join(all, ", ")
		}
		if got := paths(differs.Values); got != "id added, ratio added, tag removed" {
			t.Errorf("%s: the values differ by %s", helm, got)
		}
		// After merging with the chart's values, a removed value differs too.
		if differs, err = compare.Records(first, second, []parts.Name{parts.Values}, true); err != nil {
			t.Fatal(err)
		}
		if got := paths(differs.Values); got != "id added, ratio changed, tag changed" || len(differs.Manifest) != 0 {
			t.Errorf("%s: all values differ by %s, %+v", helm, got, differs)
		}
		same, err := compare.Records(first, fixture(t, helm+"/web.v3"), []parts.Name{parts.Manifest, parts.Values, parts.Notes, parts.Hooks}, true)
		if data, _ := json.Marshal(same); err != nil || !same.Identical() {
			t.Errorf("%s: a rollback to 1 differs from it by %s, %v", helm, data, err)
		}
	}
	if _, err := compare.Records(&decoder.Record{}, &decoder.Record{}, []parts.Name{parts.Raw}, false); err == nil {
		t.Error("raw records were compared")
	}
}

package mask_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// everywhere is a record with a canary in every place where a secret can live;
// "%s" stands for it, "%b" for its base64.
const everywhere = `{"name":"web","info":{"status":"deployed","description":"failed with %s","notes":"The password is %s"},
"chart":{"metadata":{"name":"web","version":"1","annotations":{"url":"https://u:%s@host"}},
 "values":{"admin":{"password":"%s"},"env":[{"name":"API_TOKEN","value":"%s"}]},
 "schema":"%S","templates":[{"name":"templates/a","data":"%b"}],"files":[{"name":"key","data":"%b"}]},
"config":{"db":{"password":"%s","nested":[{"tokens":["%s"]}]},"list":["--password=%s"]},
"manifest":"kind: Secret\nstringData:\n  a: %s\n---\nkind: Secret\ndata:\n  a: %b\n---\nkind: ConfigMap\ndata:\n  url: pg://u:%s@db/\n",
"hooks":[{"name":"h","kind":"Job","path":"web/templates/h.yaml","manifest":"kind: Secret\nstringData: {a: %s}\n","weight":0}],
"future":{"token":"%s"},"version":1,"namespace":"shop"}`

func decode(t *testing.T, raw string) *decoder.Record {
	t.Helper()
	record, err := decoder.DecodeRecord([]byte(base64.StdEncoding.EncodeToString([]byte(raw))), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestAMaskedRecordMayBeShownAsAWhole(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	schema := base64.StdEncoding.EncodeToString([]byte(`{"properties":{"password":{"type":"string","default":"` + canary + `"}}}`))
	record := decode(t, strings.NewReplacer("\n", "", "%s", canary, "%b", encoded, "%S", schema).Replace(everywhere))
	masked, err := mask.New(key, release).Collect(mask.FromRecord(record)).Record(record)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(masked)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{canary, encoded} {
		if at := strings.Index(string(all), form); at >= 0 {
			t.Errorf("the masked record has %q after %q", form, all[max(0, at-80):at])
		}
	}
	chart, err := decoder.ReadChart(masked)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"properties":{"password":{"type":"string","default":"«masked:`; !strings.HasPrefix(string(chart.Schema), want) || strings.Contains(string(chart.Schema), canary) {
		t.Errorf("the schema is %s, want it to start with %s", chart.Schema, want)
	}
	if masked.Name != "web" || masked.Version != 1 || masked.Hooks[0].Path != "web/templates/h.yaml" || masked.Metadata.Name != "web" {
		t.Errorf("content that is not secret is lost: %+v", masked)
	}
}

func TestFieldsOfARecordAreMaskedInEveryCase(t *testing.T) {
	const short = "Xq7" // too short to be looked for in other texts
	raw := `{"NAME":"web","Info":{"status":"deployed"},"MANIFEST":"kind: Secret\nstringData: {a: ` + short + `}\n",` +
		`"Hooks":[{"Manifest":"kind: Secret\nstringData: {a: ` + short + `}\n"}],"version":1}`
	record := decode(t, raw)
	masked, err := mask.New(key, release).Collect(mask.FromRecord(record)).Record(record)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(masked.Raw), short) {
		t.Errorf("the masked record is %s", masked.Raw)
	}
}

// A record without secrets stays as it is, byte for byte.
func TestRecordsWithoutSecretsStayUnchanged(t *testing.T) {
	for _, helm := range []string{"helm3", "helm4"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", helm, "web.v2.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var secret corev1.Secret
		if err := yaml.Unmarshal(data, &secret); err != nil {
			t.Fatal(err)
		}
		record, err := decoder.DecodeRecord(secret.Data["release"], decoder.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		masked, err := mask.New(key, release).Collect(mask.FromRecord(record)).Record(record)
		if err != nil {
			t.Fatal(err)
		}
		masked.Raw, record.Raw = nil, nil
		if diff := cmp.Diff(record, masked); diff != "" {
			t.Errorf("%s (-record +masked):\n%s", helm, diff)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "helm3", "large.v1.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	var secret corev1.Secret
	if err := yaml.Unmarshal(data, &secret); err != nil {
		b.Fatal(err)
	}
	record, err := decoder.DecodeRecord(secret.Data["release"], decoder.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := mask.New(key, release).Collect(mask.FromRecord(record)).Record(record); err != nil {
			b.Fatal(err)
		}
	}
}

package decoder_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
)

// fixture is a release Secret written by a real helm; see testdata/README.md.
type fixture struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
	} `json:"metadata"`
	Type string            `json:"type"`
	Data map[string][]byte `json:"data"`
}

func load(t testing.TB, file string) fixture {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := yaml.Unmarshal(content, &f); err != nil {
		t.Fatal(err)
	}
	if f.Type != decoder.SecretType || len(f.Data["release"]) == 0 {
		t.Fatalf("%s is not a release Secret", file)
	}
	return f
}

func (f fixture) secret() decoder.Secret {
	m := f.Metadata
	return decoder.Secret{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Created: m.CreationTimestamp, Labels: m.Labels}
}

func TestRecordsThatHelmWrote(t *testing.T) {
	const installed, superseded = "Install complete", "superseded"
	for file, want := range map[string]struct {
		name        string
		number      int
		status      decoder.Status
		description string
		rollback    int
		applyMethod string
		config      string
		notes       string
	}{
		"helm3/web.v1":     {"web", 1, superseded, installed, 0, "", `{"tag":"first"}`, "web runs 1 × nginx:first.\n"},
		"helm3/web.v2":     {"web", 2, superseded, "Upgrade complete", 0, "", `{"id":12345678901234567000,"ratio":1.1}`, "web runs 1 × nginx:stable.\n"},
		"helm3/web.v3":     {"web", 3, "deployed", "Rollback to 1", 0, "", `{"tag":"first"}`, "web runs 1 × nginx:first.\n"},
		"helm3/web.v4":     {"web", 4, "failed", `Upgrade "web" failed: context deadline exceeded`, 0, "", `{"tag":"doesnotexist"}`, "web runs 1 × nginx:doesnotexist.\n"},
		"helm3/kept.v2.v1": {"kept.v2", 1, "uninstalled", "Uninstallation complete", 0, "", "", "kept.v2 runs 1 × nginx:stable.\n"},
		"helm3/stuck.v1":   {"stuck", 1, "pending-install", "Initial install underway", 0, "", `{"tag":"doesnotexist"}`, "stuck runs 1 × nginx:doesnotexist.\n"},
		"helm3/large.v1":   {"large", 1, "deployed", installed, 0, "", "", ""},
		"helm4/web.v1":     {"web", 1, superseded, installed, 0, "ssa", `{"tag":"first"}`, "web runs 1 × nginx:first.\n"},
		"helm4/web.v2":     {"web", 2, superseded, "Upgrade complete", 0, "ssa", `{"id":12345678901234567000,"ratio":1.1}`, "web runs 1 × nginx:stable.\n"},
		"helm4/web.v3":     {"web", 3, "deployed", "Rollback to 1", 1, "ssa", `{"tag":"first"}`, "web runs 1 × nginx:first.\n"},
		"helm4/web.v4": {"web", 4, "failed", `Upgrade "web" failed: resource Deployment/fixtures-helm4/web not ready. ` +
			"status: InProgress, message: Pending termination: 1\ncontext deadline exceeded", 0, "ssa", `{"tag":"doesnotexist"}`, "web runs 1 × nginx:doesnotexist.\n"},
		"helm4/kept.v2.v1": {"kept.v2", 1, "uninstalled", "Uninstallation complete", 0, "ssa", "", "kept.v2 runs 1 × nginx:stable.\n"},
		"helm4/stuck.v1":   {"stuck", 1, "pending-install", "Initial install underway", 0, "ssa", `{"tag":"doesnotexist"}`, "stuck runs 1 × nginx:doesnotexist.\n"},
	} {
		t.Run(file, func(t *testing.T) {
			f := load(t, filepath.Join("testdata", file+".yaml"))
			data := f.Data["release"]
			r, ok := decoder.NewRevision(f.secret(), data, decoder.Limits{})
			if !ok || r.Problem != "" {
				t.Fatalf("revision %+v", r)
			}
			record, err := decoder.DecodeRecord(data, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(record.Header, *r.Header); diff != "" {
				t.Errorf("header (-record +header):\n%s", diff)
			}
			if got := decoder.Disagreements(r, record); got != nil {
				t.Errorf("disagreements %v in a record that helm wrote", got)
			}
			got := want
			got.name, got.number, got.status, got.description = r.Name, r.Number, r.Header.Status, r.Header.Description
			got.rollback, got.applyMethod, got.config, got.notes = r.Header.RollbackRevision, record.ApplyMethod, string(record.Config), record.Notes
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			likeHelm(t, data, record)
		})
	}
}

// likeHelm checks that a record equals Helm's own decoding of it.
func likeHelm(t *testing.T, data []byte, got *decoder.Record) {
	t.Helper()
	helm, err := helmDecode(data)
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		Name, Description, Chart, ChartVersion, AppVersion, Namespace, Manifest, Notes string
		Status                                                                         decoder.Status
		Version                                                                        int
		First, Last, Deleted                                                           time.Time
	}
	info, meta := helm.Info, helm.Chart.Metadata
	want := facts{helm.Name, info.Description, meta.Name, meta.Version, meta.AppVersion, helm.Namespace, helm.Manifest, info.Notes,
		info.Status, helm.Version, info.FirstDeployed.Time.UTC(), info.LastDeployed.Time.UTC(), info.Deleted.Time.UTC()}
	read := facts{got.Name, got.Description, got.Chart, got.ChartVersion, got.AppVersion, got.Namespace, got.Manifest, got.Notes,
		got.Status, got.Version, got.FirstDeployed, got.LastDeployed, got.Deleted}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("record (-helm +decoder):\n%s", diff)
	}
	if diff := cmp.Diff(meta, got.Metadata); diff != "" {
		t.Errorf("metadata (-helm +decoder):\n%s", diff)
	}
	if len(got.Hooks) != len(helm.Hooks) {
		t.Fatalf("%d hooks, helm reads %d", len(got.Hooks), len(helm.Hooks))
	}
	for i, want := range helm.Hooks {
		got := got.Hooks[i]
		if got.Name != want.Name || got.Manifest != want.Manifest || got.Weight != want.Weight ||
			!cmp.Equal(got.Events, want.Events) || !cmp.Equal(got.DeletePolicies, want.DeletePolicies) {
			t.Errorf("hook %+v, helm reads %+v", got, want)
		}
	}
}

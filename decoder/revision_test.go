package decoder_test

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

func TestIdentify(t *testing.T) {
	for name, tt := range map[string]struct {
		secret        string
		labels        map[string]string
		recordName    string
		recordVersion int
		want          string
		number        int
		ok            bool
	}{
		"labels first":           {"sh.helm.release.v1.c.v3", map[string]string{"name": "a", "version": "1"}, "b", 2, "a", 1, true},
		"then the record":        {"sh.helm.release.v1.c.v3", nil, "b", 2, "b", 2, true},
		"then the Secret's name": {"sh.helm.release.v1.c.v3", nil, "", 0, "c", 3, true},
		"each on its own":        {"sh.helm.release.v1.c.v3", map[string]string{"name": "a"}, "", 2, "a", 2, true},
		"dots in the release":    {"sh.helm.release.v1.my.v2.app.v12", nil, "", 0, "my.v2.app", 12, true},
		"release named v1":       {"sh.helm.release.v1.v1.v1", nil, "", 0, "v1", 1, true},
		"label is not a number":  {"sh.helm.release.v1.c.v3", map[string]string{"version": "three"}, "", 0, "c", 3, true},
		"label is below one":     {"sh.helm.release.v1.c.v3", map[string]string{"version": "-1"}, "", -4, "c", 3, true},
		"another Secret's name":  {"backup-of-c", map[string]string{"name": "a", "version": "7"}, "", 0, "a", 7, true},
		"nothing has a number":   {"backup-of-c", map[string]string{"name": "a"}, "", 0, "a", 0, false},
		"nothing has a name":     {"sh.helm.release.v1.c.v", map[string]string{"version": "7"}, "", 0, "", 7, false},
		"no release in the name": {"sh.helm.release.v1..v1", nil, "", 0, "", 1, false},
		"leading zero":           {"sh.helm.release.v1.c.v03", nil, "", 0, "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, number, ok := decoder.Identify(tt.secret, tt.labels, tt.recordName, tt.recordVersion)
			if got != tt.want || number != tt.number || ok != tt.ok {
				t.Errorf("%q %d %v, want %q %d %v", got, number, ok, tt.want, tt.number, tt.ok)
			}
		})
	}
}

func webSecret(labels map[string]string) decoder.Secret {
	return decoder.Secret{
		Namespace: "prod", Name: "sh.helm.release.v1.web.v2", UID: "uid-2", ResourceVersion: "20",
		Created: time.Date(2026, 11, 30, 2, 0, 1, 0, time.UTC), Labels: labels,
	}
}

var webLabels = map[string]string{"owner": "helm", "name": "web", "status": "deployed", "version": "2", decoder.SessionLabel: "s-1"}

func TestNewRevision(t *testing.T) {
	data := plainJSON(webRecord)
	want := &decoder.Revision{
		Namespace: "prod", Name: "web", Number: 2,
		Secret:      decoder.SecretRef{Name: "sh.helm.release.v1.web.v2", UID: "uid-2", ResourceVersion: "20"},
		Created:     time.Date(2026, 11, 30, 2, 0, 1, 0, time.UTC),
		LabelStatus: decoder.StatusDeployed, Session: "s-1",
	}
	got, ok := decoder.NewRevision(webSecret(webLabels), nil, decoder.Limits{})
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("not read yet: %v (-want +got):\n%s", ok, diff)
	}
	want.Header, want.Size = webHeader, len(data)
	want.Digest = fmt.Sprintf("%x", sha256.Sum256(data))
	got, ok = decoder.NewRevision(webSecret(webLabels), data, decoder.Limits{})
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("read: %v (-want +got):\n%s", ok, diff)
	}
}

// https://github.com/Dudude-bit/rubick/pull/215
func TestUndecodableRecordIsStillARow(t *testing.T) {
	const secret = "hunter2"
	for name, data := range map[string][]byte{
		"not base64":  []byte(secret + "!"),
		"not JSON":    plainJSON(secret + " is no record"),
		"empty bytes": {},
	} {
		t.Run(name, func(t *testing.T) {
			r, ok := decoder.NewRevision(webSecret(webLabels), data, decoder.Limits{})
			if !ok {
				t.Fatal("the revision was dropped")
			}
			if r.Problem == "" || strings.Contains(r.Problem, secret) {
				t.Errorf("problem %q, want a sentence without the content", r.Problem)
			}
			if r.Name != "web" || r.Number != 2 || r.Status() != decoder.StatusDeployed || r.Digest == "" {
				t.Errorf("revision %+v, want the fields of labels and bytes", r)
			}
		})
	}
	if r, ok := decoder.NewRevision(decoder.Secret{Name: "x"}, plainJSON(webRecord), decoder.Limits{}); !ok || r.Name != "web" || r.Number != 2 {
		t.Errorf("a Secret of another name: %+v %v, want the record's fields", r, ok)
	}
	if r, ok := decoder.NewRevision(decoder.Secret{Name: "x"}, plainJSON(secret), decoder.Limits{}); ok {
		t.Errorf("a Secret of no release: %+v", r)
	}
}

// https://github.com/helm/helm/issues/8247
func TestRestoredRecordWithoutLabelsIsAttributed(t *testing.T) {
	secret := webSecret(map[string]string{"owner": "helm"})
	secret.Name = "sh.helm.release.v1.other.v9"
	r, ok := decoder.NewRevision(secret, compressed(t, webRecord), decoder.Limits{})
	if !ok || r.Name != "web" || r.Number != 2 || r.Status() != decoder.StatusDeployed {
		t.Errorf("revision %+v, want web 2 deployed from the record", r)
	}
	record, err := decoder.DecodeRecord(compressed(t, webRecord), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := decoder.Disagreements(r, record); got != nil {
		t.Errorf("disagreements %v, want none", got)
	}
}

// https://github.com/helm/helm/issues/8247
func TestRecordCopiedElsewhereIsMarked(t *testing.T) {
	record, err := decoder.DecodeRecord(compressed(t, webRecord), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	secret := webSecret(map[string]string{"owner": "helm", "name": "copy", "version": "3", "status": "failed"})
	secret.Namespace = "dr"
	r, ok := decoder.NewRevision(secret, compressed(t, webRecord), decoder.Limits{})
	if !ok || r.Namespace != "dr" || r.Name != "copy" || r.Number != 3 {
		t.Fatalf("revision %+v, want the Secret's namespace and labels", r)
	}
	want := []decoder.Anomaly{
		{Code: "label_status", Message: "The Secret's label says failed, the record deployed. Helm goes by the record."},
		{Code: "name", Message: `The record says that its release is "web".`},
		{Code: "namespace", Message: `The record says that its namespace is "prod".`},
		{Code: "revision", Message: "The record says that it is revision 2."},
	}
	if diff := cmp.Diff(want, decoder.Disagreements(r, record)); diff != "" {
		t.Errorf("disagreements (-want +got):\n%s", diff)
	}
	// A value that the record lacks is not a disagreement.
	if record, err = decoder.DecodeRecord(plainJSON(`{"info":{}}`), decoder.Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := decoder.Disagreements(r, record); got != nil {
		t.Errorf("an empty record disagrees: %v", got)
	}
}

func TestTrackedRevisionCostsUnder3KBWhateverItsPayload(t *testing.T) {
	long := strings.Repeat("x", 16<<10)
	data := compressed(t, strings.NewReplacer("web", long, "Rollback to 1", long, "deployed\"", long+"\"", "nginx", long, "1.2.3", long,
		"1.27", long, "kind: Pod", long).Replace(webRecord))
	const count = 200
	revisions := make([]*decoder.Revision, count)
	before := heap()
	for i := range revisions {
		secret := webSecret(map[string]string{"name": fmt.Sprintf("web-%d", i), "version": "2", "status": "deployed"})
		secret.Name = fmt.Sprintf("sh.helm.release.v1.web-%d.v2", i)
		r, ok := decoder.NewRevision(secret, data, decoder.Limits{})
		if !ok || r.Problem != "" {
			t.Fatalf("revision %+v", r)
		}
		revisions[i] = r
	}
	each := (heap() - before) / count
	runtime.KeepAlive(revisions)
	if each > 3000 {
		t.Errorf("a revision costs %d bytes", each)
	}
	t.Logf("a revision costs %d bytes", each)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second one empties the pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Identify reads back the name that SecretName returns, for every release name.
func TestSecretNameIsReadBack(t *testing.T) {
	for _, release := range []string{"web", "my.app", "web.v2", "sh.helm.release.v1.web.v3"} {
		name, number, ok := decoder.Identify(decoder.SecretName(release, 12), nil, "", 0)
		if name != release || number != 12 || !ok {
			t.Errorf("the Secret %s is read as revision %d of %q (%t), want revision 12 of %q", decoder.SecretName(release, 12), number, name, ok, release)
		}
	}
}

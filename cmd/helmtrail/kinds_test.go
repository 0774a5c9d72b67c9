package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// packed encodes a record like Helm.
func packed(t *testing.T, record io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	if _, err := io.Copy(zipped, record); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(out.Bytes()))
}

// spaces is an endless reader of spaces.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// kindOfRecord is a kind of content that a release Secret may have.
type kindOfRecord struct {
	name   string
	status string // in the label, "" for deployed
	data   []byte
	// unreadable means that the record has a row, but no parts.
	unreadable bool
	// wantStatus is the status shown, "" for that of the label.
	wantStatus string
}

// kindsOfRecords returns all kinds that the decoder may meet.
func kindsOfRecords(t *testing.T) []kindOfRecord {
	t.Helper()
	record := func(name, status, more string) string {
		return fmt.Sprintf(`{"name":%q,"info":{"status":%q,"first_deployed":"2026-01-01T10:00:00Z","last_deployed":"2026-01-02T10:00:00Z","description":"Install complete","notes":"hello"},`+
			`"chart":{"metadata":{"name":"web","version":"1.2.3"},"values":{"a":1}},"config":{"a":2},"manifest":"kind: ConfigMap\nmetadata: {name: a}\n","version":1%s}`, name, status, more)
	}
	plain := func(text string) []byte { return []byte(base64.StdEncoding.EncodeToString([]byte(text))) }
	whole := packed(t, strings.NewReader(record("truncated", "deployed", "")))
	var large struct {
		Data map[string][]byte
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "decoder", "testdata", "helm3", "large.v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &large); err != nil {
		t.Fatal(err)
	}
	kinds := []kindOfRecord{
		{name: "legacy", data: plain(record("legacy", "deployed", ""))}, // https://github.com/helm/helm/pull/1420
		{name: "truncated", data: whole[:len(whole)/2/4*4], unreadable: true},
		{name: "no-bytes", data: []byte{}, unreadable: true},
		{name: "one-byte", data: plain("x"), unreadable: true},
		{name: "two-bytes", data: plain("\x1f\x8b"), unreadable: true},
		{name: "three-bytes", data: plain("\x1f\x8b\x08"), unreadable: true},
		{name: "empty-object", data: packed(t, strings.NewReader(`{}`)), unreadable: true},
		{name: "no-info", data: packed(t, strings.NewReader(`{"name":"no-info","version":1}`)), unreadable: true},
		{name: "no-chart", data: packed(t, strings.NewReader(`{"name":"no-chart","info":{"status":"deployed"},"version":1}`))},
		{name: "future-fields", data: packed(t, strings.NewReader(record("future-fields", "deployed", `,"apply_method":"xyz","future":{"deep":[1,{"er":null}]}`)))},
		{name: "inflating", data: packed(t, io.MultiReader(strings.NewReader(`{"name":"inflating","manifest":"`), io.LimitReader(spaces{}, 80<<20), strings.NewReader(`","info":{"status":"deployed"}}`))), unreadable: true},
		{name: "large", data: large.Data["release"]},
	}
	// https://github.com/kubernetes-sigs/headlamp/issues/7523
	for _, status := range []string{"failed", "pending-install", "pending-upgrade", "pending-rollback", "uninstalled", "uninstalling", "unknown", "pending-test"} {
		kinds = append(kinds, kindOfRecord{name: "status-" + status, status: status, data: packed(t, strings.NewReader(record("status-"+status, status, "")))})
	}
	// https://github.com/helm/helm/issues/5595
	return append(kinds, kindOfRecord{name: "label-differs", status: "deployed", data: packed(t, strings.NewReader(record("label-differs", "failed", ""))), wantStatus: "failed"})
}

// https://github.com/Dudude-bit/rubick/pull/215
//
// The test is not parallel: the helmtrails of other tests would read these
// records too, and one of them takes a second of work.
func TestRecordsOfEveryKindAreShownAlsoAfterTheirDeletion(t *testing.T) {
	namespace := clustertest.Namespace(t)
	h := shared.on(t, clustertest.Binary(t, "helm4"))
	kinds := kindsOfRecords(t)
	secrets := clustertest.Core(t).Secrets(namespace)
	for i, kind := range kinds {
		if kind.status == "" {
			kinds[i].status = "deployed"
		}
		_, err := secrets.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:   "sh.helm.release.v1." + kind.name + ".v1",
				Labels: map[string]string{"owner": "helm", "name": kind.name, "version": "1", "status": kinds[i].status},
			},
			Type: "helm.sh/release.v1", Data: map[string][]byte{"release": kind.data},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%s: %v", kind.name, err)
		}
	}
	// A Secret with Helm's label but without a record is not a release.
	for name, secret := range map[string]corev1.Secret{
		"opaque": {Data: map[string][]byte{"password": []byte("x")}}, "nothing": {Type: "helm.sh/release.v1"},
	} {
		secret.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: map[string]string{"owner": "helm", "name": name, "version": "1", "status": "deployed"}}
		if _, err := secrets.Create(t.Context(), &secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("there", func(t *testing.T) { h.checkKinds(t, namespace, kinds, false) })
	for _, name := range []string{"opaque", "nothing"} {
		if code, answer := h.ask(t, http.MethodGet, h.release(namespace, name)+"/history", ""); code != http.StatusNotFound {
			t.Errorf("%s is answered with %d %s", name, code, answer)
		}
	}
	for _, kind := range kinds {
		if err := secrets.Delete(t.Context(), "sh.helm.release.v1."+kind.name+".v1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("gone", func(t *testing.T) { h.checkKinds(t, namespace, kinds, true) })
}

// checkKinds reads the only revision of each release through every route that needs its
// record.
func (h *server) checkKinds(t *testing.T, namespace string, kinds []kindOfRecord, gone bool) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			own := h.release(namespace, kind.name)
			var list struct {
				Items []struct {
					Status, Problem string
					Gone            *string
					Anomalies       []struct{ Code string }
				}
			}
			eventually(t, "the history", func() bool {
				list.Items = nil
				return h.call(t, http.MethodGet, own+"/history", nil, &list) == http.StatusOK && len(list.Items) == 1 && (list.Items[0].Gone != nil) == gone
			})
			item := list.Items[0]
			want := kind.status
			if kind.wantStatus != "" {
				want = kind.wantStatus
			}
			if item.Status != want || (item.Problem != "") != kind.unreadable {
				t.Errorf("the history has %+v, want the status %s and unreadable %v", item, want, kind.unreadable)
			}
			code := http.StatusOK
			if kind.unreadable {
				code = http.StatusUnprocessableEntity
			}
			for _, part := range []string{"values", "values?all=true", "manifest", "hooks", "notes", "metadata", "chart", "raw"} {
				if got, answer := h.ask(t, http.MethodGet, own+"/revisions/1/"+part, ""); got != code {
					t.Errorf("%s answers %d, want %d: %.200s", part, got, code, answer)
				}
			}
			if got, answer := h.ask(t, http.MethodGet, own+"/diff?from=1&to=1", ""); got != code {
				t.Errorf("the comparison with itself answers %d, want %d: %.200s", got, code, answer)
			}
			if got, answer := h.ask(t, http.MethodGet, own+"/diff", ""); got != http.StatusOK || !strings.Contains(answer, "nothing to compare") {
				t.Errorf("the comparison of a single revision answers %d: %.200s", got, answer)
			}
			var trail trailPage
			eventually(t, "the trail", func() bool {
				h.get(t, own+"/trail", &trail)
				last := trail.Items[len(trail.Items)-1]
				return last.Kind == audit.KindTransition && (last.Change != "status") == gone && last.Digest != ""
			})
		})
	}
}

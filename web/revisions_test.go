package web_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

// https://github.com/helm/helm/issues/7274
func TestTwoDeployedRevisionsAreShownAndTheHighestIsCurrent(t *testing.T) {
	a := newArchive(t)
	for number, status := range map[int]decoder.Status{5: "superseded", 6: "deployed", 7: "superseded", 8: "deployed", 9: "failed"} {
		a.put(t, shop{revision: number, status: status})
	}
	want := []string{"9 failed", "8 deployed*", "7 superseded", "6 deployed also_deployed", "5 superseded"}
	if diff := cmp.Diff(want, a.history("").rows()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// https://github.com/kubernetes-sigs/headlamp/issues/7523
func TestAReleaseThatIsNotDeployedHasItsHistoryPartsAndDiff(t *testing.T) {
	for _, status := range []decoder.Status{"failed", "pending-install", "uninstalled", "uninstalling", "unknown", "word-of-the-future"} {
		t.Run(string(status), func(t *testing.T) {
			a := newArchive(t)
			a.put(t, shop{revision: 1, status: status})
			if got := a.history("").rows(); len(got) != 1 || got[0] != "1 "+string(status) {
				t.Errorf("history is %q", got)
			}
			for _, part := range []string{"values", "manifest", "hooks", "notes", "metadata", "chart", "raw"} {
				if r := a.do(http.MethodGet, shopURL+"/web/revisions/1/"+part, ""); r.status != http.StatusOK {
					t.Errorf("%s answered %d: %s", part, r.status, r.body)
				}
			}
			var diff struct {
				From      *struct{}
				Identical bool
				Message   string
			}
			a.do(http.MethodGet, shopURL+"/web/diff", "").decode(http.StatusOK, &diff)
			if diff.From != nil || !diff.Identical || !strings.Contains(diff.Message, "nothing to compare") {
				t.Errorf("diff is %+v", diff)
			}
		})
	}
}

// https://github.com/helm/helm/issues/8247
func TestARecordThatDisagreesWithItsSecretIsMarked(t *testing.T) {
	a := newArchive(t)
	record := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	a.put(t, shop{name: "silent", revision: 3, status: "deployed", data: record(`{"info":{"status":"deployed"}}`)})
	var silent historyAnswer
	a.do(http.MethodGet, shopURL+"/silent/history", "").decode(http.StatusOK, &silent)
	if diff := cmp.Diff([]string{"3 deployed*"}, silent.rows()); diff != "" {
		t.Errorf("of an empty record (-want +got):\n%s", diff)
	}
	a.put(t, shop{revision: 3, status: "deployed", data: record(`{"name":"other","namespace":"prod","version":2,"info":{"status":"deployed"}}`)})
	items := a.history("").Items
	if len(items) != 1 {
		t.Fatalf("history has %d revisions", len(items))
	}
	var codes []string
	for _, odd := range items[0].Anomalies {
		codes = append(codes, odd.Code+": "+odd.Message)
	}
	want := []string{`name: The record says that its release is "other".`, `namespace: The record says that its namespace is "prod".`, `revision: The record says that it is revision 2.`}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("anomalies (-want +got):\n%s", diff)
	}
}

// https://github.com/helm/helm/issues/5595
func TestALabelPatchedByHandIsShownBesideTheRecordsStatus(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "failed", labelStatus: "deployed"})
	item := a.history("").Items[0]
	if item.Status != "failed" || item.LabelStatus != "deployed" || item.Live || len(item.Anomalies) != 1 || item.Anomalies[0].Code != "label_status" {
		t.Errorf("revision is %+v", item)
	}
}

// https://github.com/Dudude-bit/rubick/pull/215
func TestAnUnreadableRecordIsARow(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{name: "web", revision: 1, status: "deployed", data: "bm8gcmVjb3Jk"})
	h := a.history("")
	if len(h.Items) != 1 || h.Items[0].Problem == "" || h.Items[0].Status != "deployed" || h.Items[0].Anomalies[0].Code != "unreadable" {
		t.Errorf("history is %+v", h)
	}
	for _, path := range []string{"/web/revisions/1/values", "/web/diff?from=1&to=1"} {
		a.do(http.MethodGet, shopURL+path, "").wantError(http.StatusUnprocessableEntity, "unreadable")
	}
	a.do(http.MethodGet, shopURL+"/web/revisions/2/values", "").wantError(http.StatusNotFound, "not_found")
	a.do(http.MethodGet, shopURL+"/ghost/history", "").wantError(http.StatusNotFound, "not_found")
	a.do(http.MethodGet, shopURL+"/ghost/diff", "").wantError(http.StatusNotFound, "not_found")
}

// https://github.com/kubermatic/kubermatic/issues/16209
func TestTheApplyMethodIsShownByName(t *testing.T) {
	a := newArchive(t)
	for number, method := range []string{`"info":{"status":"superseded"}`, `"apply_method":"csa","info":{}`, `"apply_method":"ssa","info":{}`, `"apply_method":"xyz","future":{"a":1},"info":{}`} {
		a.put(t, shop{revision: number + 1, status: "superseded", record: method})
	}
	var got []string
	for _, item := range a.history("").Items {
		got = append(got, item.ApplyMethod)
	}
	if diff := cmp.Diff([]string{"xyz", "server-side", "client-side", "client-side"}, got); diff != "" {
		t.Errorf("apply methods (-want +got):\n%s", diff)
	}
}

// https://github.com/helm/helm/issues/10550
func TestAGapIsAnAnomalyButPrunedRevisionsAreNot(t *testing.T) {
	a := newArchive(t)
	for _, number := range []int{5, 6, 9} {
		a.put(t, shop{revision: number, status: "superseded"})
	}
	h := a.history("")
	if diff := cmp.Diff([]string{"9 superseded gap", "6 superseded", "5 superseded"}, h.rows()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got, want := h.Items[0].Anomalies[0].Message, "Revisions 7 to 8 are not in the cluster."; got != want {
		t.Errorf("message is %q, want %q", got, want)
	}
}

func TestAHistoryIsPagedAndUnchangedIs304(t *testing.T) {
	a := newArchive(t)
	for number := range 5 {
		a.put(t, shop{revision: number + 1, status: "superseded", record: `"info":{"status":"superseded","description":"Rollback to 1"}`})
	}
	first := a.history("?limit=2")
	second := a.history("?limit=2&continue=" + first.Continue)
	last := a.history("?limit=2&continue=" + second.Continue)
	got := append(append(first.rows(), second.rows()...), last.rows()...)
	want := []string{"5 superseded", "4 superseded", "3 superseded", "2 superseded", "1 superseded"}
	if diff := cmp.Diff(want, got); diff != "" || last.Continue != "" {
		t.Errorf("pages (-want +got):\n%s\nlast continues with %q", diff, last.Continue)
	}
	if first.Items[0].RollbackRevision != 1 {
		t.Errorf("the rollback of Helm 3 went to %d, want 1", first.Items[0].RollbackRevision)
	}
	tag := a.do(http.MethodGet, shopURL+"/web/history", "").header.Get("ETag")
	if again := a.do(http.MethodGet, shopURL+"/web/history", "", "If-None-Match", tag); again.status != http.StatusNotModified {
		t.Errorf("an unchanged history answers %d", again.status)
	}
	a.put(t, shop{revision: 6, status: "deployed"})
	if again := a.do(http.MethodGet, shopURL+"/web/history", "", "If-None-Match", tag); again.status != http.StatusOK {
		t.Errorf("a changed history answers %d", again.status)
	}
}

// A copy of a Secret under another name has a row of its own, on any page.
func TestTwoSecretsOfARevisionAreBothShown(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "superseded"})
	original, _ := a.put(t, shop{revision: 2, status: "superseded"})
	copied := *original
	copied.Secret.Name, copied.Secret.UID = "a-copy", "a-copy"
	a.releases.mu.Lock()
	a.releases.revisions = append(a.releases.revisions, &copied)
	a.releases.mu.Unlock()
	var got []string
	for query, more := "", true; more; {
		page := a.history("?limit=1" + query)
		for _, item := range page.Items {
			got = append(got, fmt.Sprint(item.Revision, " ", item.Secret.Name, " ", len(item.Anomalies)))
		}
		query, more = "&continue="+url.QueryEscape(page.Continue), page.Continue != ""
	}
	want := []string{"2 a-copy 1", "2 sh.helm.release.v1.web.v2 1", "1 sh.helm.release.v1.web.v1 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows, page by page (-want +got):\n%s", diff)
	}
}

func TestPartsHaveTheRequestedMediaType(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "deployed", record: `"info":{"status":"deployed","notes":"Hello"},` +
		`"config":{"id":12345678901234567890123,"on":"yes","list":[1.10]},"chart":{"metadata":{"name":"web","version":"1.2.3"},"values":{"id":1,"kept":true}},` +
		`"manifest":"---\nkind: Pod\nspec: {mode: 0o644, size: 12345678901234567890123}\n"`})
	for _, tt := range []struct{ part, accept, kind, body string }{
		{"values", "", "application/json", `{"id":12345678901234567890123,"on":"yes","list":[1.10]}` + "\n"},
		{"values", "application/yaml", "application/yaml; charset=utf-8", "id: 12345678901234567890123\n\"on\": \"yes\"\nlist:\n- 1.10\n"},
		{"values?all=true", "text/html, application/yaml;q=0.5, */*;q=0.8", "application/json", `{"id":12345678901234567890123,"kept":true,"list":[1.10],"on":"yes"}` + "\n"},
		{"manifest", "", "text/plain; charset=utf-8", "---\nkind: Pod\nspec: {mode: 0o644, size: 12345678901234567890123}\n\n"},
		{"manifest", "application/json", "application/json", `[{"kind":"Pod","spec":{"mode":420,"size":12345678901234567890123}}]` + "\n"},
		{"notes", "*/*", "text/plain; charset=utf-8", "NOTES:\nHello\n"},
		{"notes", "application/json", "application/json", `{"notes":"Hello"}` + "\n"},
		{"hooks", "application/json", "application/json", "[]\n"},
	} {
		r := a.do(http.MethodGet, shopURL+"/web/revisions/1/"+tt.part, "", "Accept", tt.accept)
		if r.status != http.StatusOK || r.header.Get("Content-Type") != tt.kind || r.body != tt.body {
			t.Errorf("%s as %q: %d %s %q, want %s %q", tt.part, tt.accept, r.status, r.header.Get("Content-Type"), r.body, tt.kind, tt.body)
		}
		if r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be cached: %q", tt.part, r.header.Get("Cache-Control"))
		}
	}
	a.do(http.MethodGet, shopURL+"/web/revisions/1/values?all=perhaps", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/revisions/0/values", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/revisions/1/weather", "").wantError(http.StatusNotFound, "not_found")
}

package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

// stored is the release Secrets of a cluster, read as the real one reads them.
type stored struct {
	mu      sync.Mutex
	records map[string][]byte
}

func storedKey(namespace, name string, revision int) string {
	return namespace + "/" + name + "/" + strconv.Itoa(revision)
}

func (s *stored) Record(_ context.Context, namespace, name string, revision int) (*decoder.Record, error) {
	s.mu.Lock()
	data, ok := s.records[storedKey(namespace, name, revision)]
	s.mu.Unlock()
	if !ok {
		return nil, stream.ErrNotFound
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	record.SecretNamespace, record.Digest, record.Size = namespace, fmt.Sprintf("%x", sha256.Sum256(data)), len(data)
	return record, nil
}

func (s *stored) Snapshot(context.Context, *decoder.Record, stream.Viewer) ([]stream.Resource, error) {
	return nil, nil
}

func (s *stored) ContainerLog(context.Context, stream.LogSource, stream.Viewer) (string, error) {
	return "", stream.ErrNotFound
}

// archive is a fixture whose cluster has records.
type archive struct {
	*fixture
	stored *stored
	logs   *bytes.Buffer
}

func newArchive(t *testing.T, adjust ...func(*web.Options)) *archive {
	a := &archive{stored: &stored{records: map[string][]byte{}}, logs: &bytes.Buffer{}}
	a.fixture = newFixture(t, func(o *web.Options, _ *stream.Setup) {
		o.Clusters[0].Objects = a.stored
		o.Logger = slog.New(slog.NewTextHandler(a.logs, nil))
		for _, f := range adjust {
			f(o)
		}
	})
	return a
}

// shop is a release in the namespace shop, as far as tests care for it.
type shop struct {
	name, namespace string // web, shop
	revision        int
	status          decoder.Status
	labelStatus     decoder.Status // as status
	record          string         // fields of the record in JSON, without braces
	data            string         // in place of a record
	uid             string         // the Secret's, if it is another than before
}

// put stores a revision as the cluster would hold it, seen by the watch as far
// as labels tell, and returns it as read in full, with its bytes.
func (a *archive) put(t *testing.T, s shop) (read *decoder.Revision, record []byte) {
	t.Helper()
	if s.name == "" {
		s.name = "web"
	}
	if s.namespace == "" {
		s.namespace = "shop"
	}
	if s.labelStatus == "" {
		s.labelStatus = s.status
	}
	data := s.data
	if data == "" {
		fields := s.record
		if fields == "" {
			fields = `"info":{"status":"` + string(s.status) + `"}`
		}
		for key, value := range map[string]string{
			"name": `"web"`, "namespace": `"shop"`, "version": strconv.Itoa(s.revision), "chart": `{"metadata":{"name":"web","version":"1.2.3"}}`,
		} {
			if !strings.Contains(fields, `"`+key+`":`) || key == "name" && !strings.HasPrefix(fields, `"name":`) || key == "version" {
				fields += fmt.Sprintf(",%q:%s", key, value)
			}
		}
		data = base64.StdEncoding.EncodeToString([]byte("{" + fields + "}"))
	}
	a.stored.mu.Lock()
	a.stored.records[storedKey(s.namespace, s.name, s.revision)] = []byte(data)
	a.stored.mu.Unlock()
	number := strconv.Itoa(s.revision)
	secret := decoder.Secret{
		Namespace: s.namespace, Name: "sh.helm.release.v1." + s.name + ".v" + number, UID: s.namespace + s.name + number + s.uid,
		ResourceVersion: strconv.Itoa(len(data)) + string(s.status), Created: time.Unix(int64(s.revision), 0),
		Labels: map[string]string{"owner": "helm", "name": s.name, "version": number, "status": string(s.labelStatus)},
	}
	unread, ok := decoder.NewRevision(secret, nil, decoder.Limits{})
	if !ok {
		t.Fatal("the Secret is of no revision")
	}
	a.releases.put(unread)
	read, _ = decoder.NewRevision(secret, []byte(data), decoder.Limits{})
	return read, []byte(data)
}

type historyAnswer struct {
	Items []struct {
		Revision         int
		Status           string
		LabelStatus      string
		Description      string
		ApplyMethod      string
		RollbackRevision int
		Live             bool
		Problem          string
		Session          *string
		User             string
		Size             int
		Digest           string
		Lineage          string
		Gone             *string
		Erased           bool
		Anomalies        []struct{ Code, Message string }
	}
	Lineages []struct {
		ID                 string
		Revisions          int
		Current, InCluster bool
	}
	Continue string
}

func (a *archive) history(query string) historyAnswer {
	a.t.Helper()
	var h historyAnswer
	a.do(http.MethodGet, shopURL+"/web/history"+query, "").decode(http.StatusOK, &h)
	return h
}

// rows are a history's revisions as "number status", with a star at the one
// that counts, and behind it why it is gone and the anomalies.
func (h historyAnswer) rows() []string {
	var rows []string
	for _, item := range h.Items {
		row := fmt.Sprintf("%d %s", item.Revision, item.Status)
		if item.Live {
			row += "*"
		}
		if item.Gone != nil {
			row += " " + *item.Gone
		}
		if item.Erased {
			row += " erased"
		}
		for _, odd := range item.Anomalies {
			row += " " + odd.Code
		}
		rows = append(rows, row)
	}
	return rows
}

// https://github.com/helm/helm/issues/7274
func TestTwoDeployedRevisionsAreShownAndTheHighestCounts(t *testing.T) {
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
	a.put(t, shop{revision: 3, status: "deployed", record: `"name":"other","namespace":"prod","info":{"status":"deployed"}`})
	items := a.history("").Items
	if len(items) != 1 {
		t.Fatalf("history has %d revisions", len(items))
	}
	var codes []string
	for _, odd := range items[0].Anomalies {
		codes = append(codes, odd.Code+": "+odd.Message)
	}
	want := []string{`name: The record says that its release is "other".`, `namespace: The record says that its namespace is "prod".`}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("anomalies (-want +got):\n%s", diff)
	}
}

// https://github.com/helm/helm/issues/5595
func TestALabelThatWasPatchedByHandIsShownBesideTheRecordsStatus(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "failed", labelStatus: "deployed"})
	item := a.history("").Items[0]
	if item.Status != "failed" || item.LabelStatus != "deployed" || item.Live || len(item.Anomalies) != 1 || item.Anomalies[0].Code != "label_status" {
		t.Errorf("revision is %+v", item)
	}
}

// https://github.com/Dudude-bit/rubick/pull/215
func TestARecordThatCannotBeReadIsNotMissing(t *testing.T) {
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
func TestPrunedRevisionsLeaveNoAnomalyButAGapInBetweenDoes(t *testing.T) {
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

func TestAHistoryComesInPagesAndUnchangedAsNothing(t *testing.T) {
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

func TestPartsComeInTheFormThatIsAskedFor(t *testing.T) {
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
			t.Errorf("%s may be kept: %q", tt.part, r.header.Get("Cache-Control"))
		}
	}
	a.do(http.MethodGet, shopURL+"/web/revisions/1/values?all=perhaps", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/revisions/0/values", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/revisions/1/weather", "").wantError(http.StatusNotFound, "not_found")
}

const canary = "Zq9-canary+1/x"

// everywhere is a record with a canary in every place where a secret can live.
var everywhere = strings.NewReplacer("\n", "", "%b", base64.StdEncoding.EncodeToString([]byte(canary)), "%s", canary).Replace(
	`"info":{"status":"failed","description":"failed: the password is %s","notes":"The password is %s"},
"chart":{"metadata":{"name":"web","version":"1","annotations":{"url":"https://u:%s@host"}},
 "values":{"admin":{"password":"%s"},"env":[{"name":"API_TOKEN","value":"%s"}]},
 "templates":[{"name":"templates/a","data":"%b"}],"files":[{"name":"key","data":"%b"}]},
"config":{"db":{"password":"%s","nested":[{"tokens":["%s"]}]},"list":["--password=%s"]},
"manifest":"kind: Secret\nmetadata: {name: a}\nstringData:\n  a: %s\n---\nkind: Secret\nmetadata: {name: b}\ndata:\n  a: %b\n---\nkind: ConfigMap\ndata:\n  url: pg://u:%s@db/\n",
"hooks":[{"name":"h","kind":"Job","path":"web/templates/h.yaml","manifest":"kind: Secret\nstringData: {a: %s}\n","weight":0}]`)

// https://github.com/argoproj/argo-cd/issues/14065
func TestNoAnswerHoldsASecret(t *testing.T) {
	a := newArchive(t)
	for number := range 2 {
		a.put(t, shop{revision: number + 1, status: "failed", record: everywhere})
	}
	a.put(t, shop{revision: 3, status: "failed"})
	routes := []string{"/web", "/web/history", "/web/resources", "/web/sessions", "/web/diff?from=1&to=2", "/web/diff?from=2&to=3&all=true", ""}
	for _, part := range []string{"values", "values?all=true", "manifest", "hooks", "notes", "metadata", "chart", "raw"} {
		routes = append(routes, "/web/revisions/1/"+part)
	}
	forms := []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), url.QueryEscape(canary), "canary"}
	for _, route := range routes {
		for _, accept := range []string{"", "application/json", "application/yaml", "text/plain"} {
			r := a.do(http.MethodGet, shopURL+route, "", "Accept", accept)
			if r.status != http.StatusOK {
				t.Errorf("%s as %q answered %d: %s", route, accept, r.status, r.body)
			}
			for _, form := range forms {
				if at := strings.Index(r.body, form); at >= 0 {
					t.Errorf("%s as %q holds %q behind %q", route, accept, form, r.body[max(0, at-60):at])
				}
			}
			// What stands in base64 inside base64 is seen by decoding it.
			if route == "/web/revisions/1/raw" && accept == "application/json" {
				var raw struct {
					Chart struct{ Templates, Files []struct{ Data []byte } }
				}
				if err := json.Unmarshal([]byte(r.body), &raw); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(raw.Chart.Templates[0].Data)+string(raw.Chart.Files[0].Data), canary) {
					t.Error("a file of the chart holds the canary")
				}
			}
		}
	}
	for _, key := range []string{"kind: Secret", "  a: «masked:"} {
		if r := a.do(http.MethodGet, shopURL+"/web/revisions/1/manifest", ""); !strings.Contains(r.body, key) {
			t.Errorf("the manifest lacks %q: %s", key, r.body)
		}
	}
	if strings.Contains(a.logs.String(), "canary") {
		t.Errorf("the server's log holds the canary: %s", a.logs)
	}
}

func TestRevealingIsARightOfItsOwnAndIsLogged(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "failed", record: everywhere})
	for _, path := range []string{"/web/revisions/1/values?reveal=true", "/web/diff?from=1&to=1&reveal=true"} {
		a.do(http.MethodGet, shopURL+path, "").wantError(http.StatusForbidden, "forbidden")
	}
	a.do(http.MethodGet, shopURL+"/web/revisions/1/values?reveal=1", "").wantError(http.StatusBadRequest, "bad_request")
	if a.logs.Len() > 0 {
		t.Errorf("what was refused is logged as a reveal: %s", a.logs)
	}
	var asked []stream.ReleaseRef
	allowed := newArchive(t, func(o *web.Options) {
		o.MayReveal = func(_ *http.Request, ref stream.ReleaseRef) error {
			asked = append(asked, ref)
			return nil
		}
	})
	allowed.put(t, shop{revision: 1, status: "failed", record: everywhere})
	r := allowed.do(http.MethodGet, shopURL+"/web/revisions/1/manifest?reveal=true", "")
	if r.status != http.StatusOK || !strings.Contains(r.body, canary) || strings.Contains(r.body, "masked") {
		t.Errorf("the revealed manifest is %d %s", r.status, r.body)
	}
	if diff := cmp.Diff([]stream.ReleaseRef{{Cluster: "dev", Namespace: "shop", Name: "web"}}, asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
	log := allowed.logs.String()
	if !strings.Contains(log, "secrets revealed") || !strings.Contains(log, "revision=1 lineage=\"\" what=manifest") || strings.Contains(log, canary) {
		t.Errorf("log is %q", log)
	}
}

// largeRecord is a record of nearly the size that a Secret can hold.
func largeRecord(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "decoder", "testdata", "helm3", "large.v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var secret corev1.Secret
	if err := yaml.Unmarshal(data, &secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["release"])
}

// TestTheSamePartOfTheLargestRecordIsTheSameAgain covers what the caches hold.
func TestTheSamePartOfTheLargestRecordIsTheSameAgain(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "deployed", data: largeRecord(t)})
	for _, part := range []string{"manifest"} {
		path := shopURL + "/web/revisions/1/" + part
		first, again := a.do(http.MethodGet, path, ""), a.do(http.MethodGet, path, "")
		if first.status != http.StatusOK || first.body != again.body {
			t.Errorf("%s answers %d with %d bytes, then %d with %d", part, first.status, len(first.body), again.status, len(again.body))
		}
	}
}

package web_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web"
)

const canary = "Zq9-canary+1/x"

// everywhere is a record with a canary in every place where a secret can be.
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
					t.Errorf("%s as %q holds %q after %q", route, accept, form, r.body[max(0, at-60):at])
				}
			}
			// Values in base64 within base64 must be decoded to be seen.
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

func TestRevealingNeedsItsOwnPermissionAndIsLogged(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "failed", record: everywhere})
	for _, path := range []string{"/web/revisions/1/values?reveal=true", "/web/diff?from=1&to=1&reveal=true"} {
		a.do(http.MethodGet, shopURL+path, "").wantError(http.StatusForbidden, "forbidden")
	}
	a.do(http.MethodGet, shopURL+"/web/revisions/1/values?reveal=1", "").wantError(http.StatusBadRequest, "bad_request")
	if a.logs.Len() > 0 {
		t.Errorf("a rejected request is logged as a reveal: %s", a.logs)
	}
	var asked []helmtrail.ReleaseRef
	allowed := newArchive(t, func(o *web.Options) {
		o.MayReveal = func(ref helmtrail.ReleaseRef) error {
			asked = append(asked, ref)
			return nil
		}
	})
	allowed.put(t, shop{revision: 1, status: "failed", record: everywhere})
	r := allowed.do(http.MethodGet, shopURL+"/web/revisions/1/manifest?reveal=true", "")
	if r.status != http.StatusOK || !strings.Contains(r.body, canary) || strings.Contains(r.body, "masked") {
		t.Errorf("the revealed manifest is %d %s", r.status, r.body)
	}
	if diff := cmp.Diff([]helmtrail.ReleaseRef{{Cluster: "dev", Namespace: "shop", Name: "web"}}, asked); diff != "" {
		t.Errorf("reviewed permissions (-want +got):\n%s", diff)
	}
	log := allowed.logs.String()
	if !strings.Contains(log, "secrets revealed") || !strings.Contains(log, "revision=1 lineage=\"\" what=manifest") || strings.Contains(log, canary) {
		t.Errorf("log is %q", log)
	}
}

// largeRecord is a record of nearly the size limit of a Secret.
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

// The second answer comes from the caches.
func TestTheLargestRecordIsServedTheSameFromTheCache(t *testing.T) {
	a := newArchive(t)
	a.put(t, shop{revision: 1, status: "deployed", data: largeRecord(t)})
	for _, part := range []string{"manifest", "raw"} {
		path := shopURL + "/web/revisions/1/" + part
		first, again := a.do(http.MethodGet, path, ""), a.do(http.MethodGet, path, "")
		if first.status != http.StatusOK || first.body != again.body {
			t.Errorf("%s answers %d with %d bytes, then %d with %d", part, first.status, len(first.body), again.status, len(again.body))
		}
	}
}

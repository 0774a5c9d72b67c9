package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// auditedChart writes a chart with a subchart, a hook, notes, and a secret in
// every place where one can be; "CANARY" is the secret. With the value broken,
// the API server rejects an object and quotes the secret.
func auditedChart(t *testing.T, canary string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "audited")
	for name, content := range map[string]string{
		"Chart.yaml": `apiVersion: v2
name: audited
version: 1.2.3
appVersion: "4.5"
annotations: {team: blue, source: "https://builder:CANARY@git.example.com/audited"}
dependencies:
- name: child
  version: 0.1.0
`,
		"charts/child/Chart.yaml":             "apiVersion: v2\nname: child\nversion: 0.1.0\n",
		"charts/child/values.yaml":            "level: 1\ndeep: {a: 1, b: two}\napiToken: CANARY\n",
		"charts/child/templates/objects.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: child}\ndata: {level: {{ .Values.level | quote }}}\n",
		"values.yaml": `admin:
  password: CANARY
plain: {kept: 1, gone: 2, "on": "yes"}
list: [1, 2]
ratio: 1.5
nothing: null
`,
		"values.schema.json":    `{"properties":{"code":{"type":"string","format":"password"}}}`,
		"templates/NOTES.txt":   "Revision {{ .Release.Revision }}: log in with {{ .Values.admin.password }} or {{ .Values.db.password }}\n",
		"templates/secret.yaml": "# the secrets\napiVersion: v1\nkind: Secret\nmetadata: {name: audited}\ndata: {a: {{ .Values.db.password | b64enc }}}\nstringData: {b: {{ .Values.admin.password }}}\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: audited}\ndata:\n  revision: {{ .Release.Revision | quote }}\n  url: postgres://shop:{{ .Values.db.password }}@db/shop\n{{ if .Values.broken }}---\napiVersion: v1\nkind: Service\nmetadata: {name: audited}\nspec: {type: {{ .Values.db.password }}, ports: [{port: 80}]}\n{{ end }}",
		"templates/hook.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: audited-hook
  annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: before-hook-creation}
stringData: {c: {{ .Values.db.password }}}
`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "CANARY", canary)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// as returns the response of a route to a client that accepts a media type.
func (h *server) as(t *testing.T, path, accept string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s answered %d %s", path, response.StatusCode, body)
	}
	return string(body)
}

// audited installs the chart in a session of helmtrail, upgrades it by hand, and
// rolls it back in another session.
func audited(t *testing.T, h *server, version int, namespace, chart, canary string) (install, rollback accepted) {
	t.Helper()
	install = h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "audited"},
		"values": object{
			"db": object{"password": canary, "nested": []any{object{"tokens": []string{canary}}}}, "code": canary,
			"plain": object{"gone": nil}, "child": object{"level": 2}, "count": 3,
		},
	})
	h.events(t.Context(), t, install.Events, 1)
	clustertest.Helm(t, version, "upgrade", "web", chart, "--namespace", namespace, "--reuse-values", "--set", "list={a,b}", "--labels", "team=green")
	eventually(t, "the upgrade by hand", func() bool {
		var release struct {
			Revision int
			Status   string
		}
		h.get(t, h.release(namespace, "web"), &release)
		return release.Revision == 2 && release.Status == "deployed"
	})
	rollback = h.submit(t, http.MethodPost, h.release(namespace, "web")+"/rollback", object{"revision": 1})
	h.events(t.Context(), t, rollback.Events, 1)
	return install, rollback
}

func TestPartsEqualHelmGet(t *testing.T) {
	t.Parallel()
	const canary = "Zq9-canary-7f"
	chart := auditedChart(t, canary)
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", version), func(t *testing.T) {
			h := serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", version)), charts: filepath.Dir(chart)})
			namespace := clustertest.Namespace(t)
			install, rollback := audited(t, h, version, namespace, chart, canary)
			helm := func(args ...string) string {
				return clustertest.Helm(t, version, append([]string{"get", args[0], "web", "--namespace", namespace}, args[1:]...)...)
			}
			for revision := 1; revision <= 3; revision++ {
				number := strconv.Itoa(revision)
				part := func(name, accept string) string {
					separator := "?"
					if strings.Contains(name, "?") {
						separator = "&"
					}
					return h.as(t, h.release(namespace, "web")+"/revisions/"+number+"/"+name+separator+"reveal=true", accept)
				}
				for _, name := range []string{"manifest", "hooks", "notes"} {
					if diff := cmp.Diff(helm(name, "--revision", number), part(name, "")); diff != "" {
						t.Errorf("%s of revision %d (-helm +helmtrail):\n%s", name, revision, diff)
					}
				}
				if diff := cmp.Diff(helm("values", "--revision", number, "-o", "yaml"), part("values", "application/yaml")); diff != "" {
					t.Errorf("values of revision %d as YAML (-helm +helmtrail):\n%s", revision, diff)
				}
				for name, args := range map[string][]string{"values": {"values"}, "values?all=true": {"values", "--all"}, "metadata": {"metadata"}} {
					want := decodeAny(t, helm(append(args, "--revision", number, "-o", "json")...))
					got := decodeAny(t, part(name, "application/json"))
					if version == 3 && name == "metadata" {
						// Helm 3 does not show labels.
						delete(got.(object), "labels")
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s of revision %d (-helm +helmtrail):\n%s", name, revision, diff)
					}
				}
			}
			checkHistory(t, h, namespace, version, install, rollback)
		})
	}
}

// decodeAny decodes JSON or YAML into plain values.
func decodeAny(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value
}

func checkHistory(t *testing.T, h *server, namespace string, version int, install, rollback accepted) {
	t.Helper()
	type row struct {
		Revision         int
		Status           string
		Description      string
		Session          string
		ApplyMethod      string
		RollbackRevision int
		Live             bool
		Anomalies        []any
	}
	var history struct{ Items []row }
	h.get(t, h.release(namespace, "web")+"/history", &history)
	method := "server-side"
	if version == 3 {
		method = "client-side"
	}
	want := []row{
		{3, "deployed", "Rollback to 1", rollback.SessionID, method, 1, true, []any{}},
		{2, "superseded", "Upgrade complete", "", method, 0, false, []any{}},
		{1, "superseded", "Install complete", install.SessionID, method, 0, false, []any{}},
	}
	if diff := cmp.Diff(want, history.Items); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var diff struct {
		Values   []struct{ Path, Change string }
		Manifest []struct{ Change, Kind, Name string }
	}
	h.get(t, h.release(namespace, "web")+"/diff?from=1&to=2", &diff)
	if want := []struct{ Path, Change string }{{"list", "added"}}; cmp.Diff(want, diff.Values) != "" {
		t.Errorf("values differ by %v, want %v", diff.Values, want)
	}
	if want := []struct{ Change, Kind, Name string }{{"changed", "ConfigMap", "audited"}}; cmp.Diff(want, diff.Manifest) != "" {
		t.Errorf("manifests differ by %v, want %v", diff.Manifest, want)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/release"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// ocHelm sends a request like `oc helm`: with the token and a CSRF token of its own in
// cookies, and with the console's URL as the origin
// (pkg/client/helm.go of github.com/redhat-developer/oc-helm).
func (h *server) ocHelm(t *testing.T, token, origin, method, path string, body any) answer {
	t.Helper()
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, h.url+path, &data)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(&http.Cookie{Name: "csrf-token", Value: "made/up+by=itself"})
	request.AddCookie(&http.Cookie{Name: "openshift-session-token", Value: token})
	request.Header.Set("X-CSRFToken", "made/up+by=itself")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", origin)
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{t, method + " " + path, response.StatusCode, response.Header, read}
}

func TestConsoleCommandLine(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	operator, token := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	h := shared.withLogin(t)
	ask := func(method, path string, body any) answer {
		t.Helper()
		return h.ocHelm(t, token, h.url, method, "/api/helm"+path, body)
	}
	// oc helm sends no values if none are given, and no index entry.
	body := object{"name": "web", "namespace": namespace, "chart_url": "web", "values": nil}
	var r release.Release // the type into which it decodes responses
	ask(http.MethodPost, "/release", body).decode(http.StatusOK, &r)
	if r.Name != "web" || r.Version != 1 || r.Info.Status != release.StatusDeployed || r.Info.LastDeployed.IsZero() {
		t.Errorf("the install answered %+v %+v", r, r.Info)
	}
	ask(http.MethodPut, "/release/async", object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": 2}}).begun(namespace, "web", 2)
	h.holding(token).settled(t, namespace, "web", 2, "deployed")
	ask(http.MethodPatch, "/release", object{"name": "web", "namespace": namespace, "version": 1}).decode(http.StatusOK, &r)
	var all []release.Release
	for path, want := range map[string]int{"/releases?ns=" + namespace: 1, "/release/history?name=web&ns=" + namespace: 3} {
		ask(http.MethodGet, path, nil).decode(http.StatusOK, &all)
		if len(all) != want {
			t.Errorf("%s answered %d releases, want %d", path, len(all), want)
		}
	}
	var removed release.UninstallReleaseResponse
	ask(http.MethodDelete, "/release?name=web&ns="+namespace, nil).decode(http.StatusOK, &removed)
	if removed.Release == nil || removed.Release.Info.Status != release.StatusUninstalled || removed.Release.Info.Deleted.IsZero() {
		t.Errorf("the uninstall answered %+v", removed.Release)
	}

	// The cookie is accepted only for the contract's routes, and never from
	// another site's page.
	if a := h.ocHelm(t, token, h.url, http.MethodGet, h.releases(namespace), nil); a.status != http.StatusUnauthorized {
		t.Errorf("outside the contract: %d %s", a.status, a.body)
	}
	if a := h.ocHelm(t, token, "https://evil.example.com", http.MethodPost, "/api/helm/release", body); a.status != http.StatusForbidden {
		t.Errorf("from another site's page: %d %s", a.status, a.body)
	}
	if a := h.ocHelm(t, "nonsense", h.url, http.MethodGet, "/api/helm/releases?ns="+namespace, nil); a.status != http.StatusUnauthorized || len(a.body) > 0 {
		t.Errorf("a bad token: %d %s", a.status, a.body)
	}
}

// The rendered manifest has everything that an install would create. The namespace is
// "default" if none is named.
func TestConsoleTemplateHasDefinitionsAndHooks(t *testing.T) {
	folder := t.TempDir()
	chart := filepath.Join(folder, "whole")
	for name, content := range map[string]string{
		"Chart.yaml":            "apiVersion: v2\nname: whole\nversion: 1.0.0\n",
		"crds/things.yaml":      "kind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\ndata: {kube: {{ .Capabilities.KubeVersion.Minor | quote }}}\n",
		"templates/hook.yaml":   "apiVersion: v1\nkind: Pod\nmetadata: {name: first, annotations: {helm.sh/hook: pre-install}}\n",
	} {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.Helm(t, 4, "package", chart, "--destination", folder)
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	eachHelm(t, func(t *testing.T, helm string) {
		h := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", hostOf(server.URL)}})
		a := h.console(t, http.MethodPost, "/template", object{"name": "web", "chart_url": server.URL + "/whole-1.0.0.tgz", "noRepo": true})
		at := -1
		for _, part := range []string{"name: things.example.com", `name: web, namespace: default`, `kube: "37"`, "helm.sh/hook: pre-install"} {
			found := strings.Index(string(a.body), part)
			if found <= at {
				t.Errorf("%q is not where it belongs in the answer %d:\n%s", part, a.status, a.body)
			}
			at = found
		}
	})
}

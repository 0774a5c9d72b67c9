package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// chartServer is a chart repository with the test chart, on this machine.
type chartServer struct {
	url, chart string
	// user and password, when set, are asked for.
	user, password string
}

func serveChart(t *testing.T) *chartServer {
	t.Helper()
	folder := t.TempDir()
	clustertest.Helm(t, 4, "package", clustertest.Chart(t), "--destination", folder)
	clustertest.Helm(t, 4, "repo", "index", folder)
	s := &chartServer{}
	files := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); s.user != "" && (user != s.user || password != s.password) {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url, s.chart = server.URL, server.URL+"/web-1.2.3.tgz"
	return s
}

// answer is what the contract's server says.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// console sends a request as the console's frontend does: POST and PUT as JSON,
// PATCH as a JSON patch that is none (console-fetch.ts).
func (h *helmtrail) console(t *testing.T, method, path string, body any) answer {
	t.Helper()
	var reader io.Reader
	if text, ok := body.(string); ok {
		reader = strings.NewReader(text)
	} else if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, h.url+"/api/helm"+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("X-CSRFToken", "token")
	if body != nil {
		request.Header.Set("Content-Type", "application/json;charset=UTF-8")
	}
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/json-patch+json;charset=UTF-8")
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{t, method + " " + path, response.StatusCode, response.Header, data}
}

// decode checks the status and reads the body as JSON.
func (a answer) decode(status int, into any) {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s answered %d %s, want %d", a.what, a.status, a.body, status)
	}
	if kind := a.header.Get("Content-Type"); kind != "application/json" {
		a.t.Errorf("%s answered with Content-Type %q", a.what, kind)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		a.t.Fatalf("%s answered %s: %v", a.what, a.body, err)
	}
}

// fails checks that the answer is exactly {"error":"..."} with a text that
// holds some words.
func (a answer) fails(status int, words ...string) {
	a.t.Helper()
	var body map[string]string
	a.decode(status, &body)
	if len(body) != 1 || body["error"] == "" {
		a.t.Errorf("%s answered %s, want only an error", a.what, a.body)
	}
	for _, word := range words {
		if !strings.Contains(body["error"], word) {
			a.t.Errorf("%s answered the error %q, want %q in it", a.what, body["error"], word)
		}
	}
}

// helmRelease is what the frontend reads of a release (helm-types.ts).
type helmRelease struct {
	Name, Namespace, Manifest string
	Version                   int
	Info                      map[string]any
	Config                    map[string]any
	Chart                     struct {
		Metadata map[string]any
		Files    []struct{ Name string }
		Values   map[string]any
	}
}

func (r helmRelease) is(t *testing.T, version int, status string) {
	t.Helper()
	if r.Version != version || r.Info["status"] != status {
		t.Errorf("the release is version %d %v, want %d %s", r.Version, r.Info["status"], version, status)
	}
}

// begun checks a 201: the Secret is that which Helm wrote for this request.
func (a answer) begun(namespace, name string, version int) corev1.Secret {
	a.t.Helper()
	var secret corev1.Secret
	a.decode(http.StatusCreated, &secret)
	session := a.header.Get("X-Helmtrail-Session")
	if secret.Kind != "Secret" || secret.APIVersion != "v1" || secret.Type != decoder.SecretType || secret.UID == "" || len(secret.Data["release"]) == 0 {
		a.t.Errorf("%s answered %.300s, want a release's Secret", a.what, a.body)
	}
	labels := secret.Labels
	if secret.Namespace != namespace || labels["owner"] != "helm" || labels["name"] != name || labels["version"] != fmt.Sprint(version) {
		a.t.Errorf("%s answered the Secret %s with the labels %v, want %s version %d", a.what, secret.Name, labels, name, version)
	}
	if !slices.Contains([]string{"pending-install", "pending-upgrade", "pending-rollback", "deployed"}, labels["status"]) {
		a.t.Errorf("%s answered a Secret with status %q", a.what, labels["status"])
	}
	if session == "" {
		a.t.Errorf("%s named no session", a.what)
	}
	if !strings.HasPrefix(a.what, http.MethodPatch) && labels[decoder.SessionLabel] != session {
		a.t.Errorf("%s answered the Secret of session %q, and named %q", a.what, labels[decoder.SessionLabel], session)
	}
	return secret
}

// settled waits until a release has a version and status.
func (h *helmtrail) settled(t *testing.T, namespace, name string, version int, status string) (r helmRelease) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is version %d %s", name, version, status), func() bool {
		a := h.console(t, http.MethodGet, "/release?ns="+namespace+"&name="+name, nil)
		r = helmRelease{}
		return a.status == http.StatusOK && json.Unmarshal(a.body, &r) == nil && r.Version == version && r.Info["status"] == status
	})
	return r
}

func TestConsoleAsynchronousRows(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		repository := serveChart(t)
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--repo", "own=" + repository.url}}), clustertest.Namespace(t)
		core := clustertest.Core(t)
		body := object{"name": "web", "namespace": namespace, "chart_url": repository.chart, "indexEntry": "web--own", "values": object{"replicas": 2}}

		first := h.console(t, http.MethodPost, "/release/async", body).begun(namespace, "web", 1)
		stored, err := core.Secrets(namespace).Get(t.Context(), first.Name, metav1.GetOptions{})
		if err != nil || stored.UID != first.UID {
			t.Errorf("the Secret %s is not the one in the cluster: %v", first.Name, err)
		}
		installed := h.settled(t, namespace, "web", 1, "deployed")
		if url := installed.Chart.Metadata["annotations"].(map[string]any)["chart_url"]; url != repository.chart {
			t.Errorf("the chart is said to come from %v", url)
		}

		// An old Secret is never the answer, and helm's own error is.
		h.console(t, http.MethodPost, "/release/async", body).fails(http.StatusBadGateway, "Failed to install helm chart: ", "cannot re")
		body["noRepo"] = true
		h.console(t, http.MethodPost, "/release/async", body).fails(http.StatusBadRequest, "Failed to install helm chart: ", "cannot re")
		h.console(t, http.MethodPost, "/release/async", "{").fails(http.StatusBadGateway)
		h.console(t, http.MethodPost, "/release/async", object{"name": "other", "namespace": namespace, "chart_url": repository.url + "/none-1.0.0.tgz"}).
			fails(http.StatusBadGateway, "Failed to install helm chart: ", "404")

		body = object{"name": "web", "namespace": namespace, "chart_url": "", "values": object{"replicas": 1}}
		h.console(t, http.MethodPut, "/release/async", body).begun(namespace, "web", 2)
		upgraded := h.settled(t, namespace, "web", 2, "deployed")
		if diff := cmp.Diff(map[string]any{"replicas": 1.0}, upgraded.Config); diff != "" {
			t.Errorf("config after the upgrade (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(installed.Chart.Metadata, upgraded.Chart.Metadata); diff != "" {
			t.Errorf("the upgrade without an address has another chart (-before +after):\n%s", diff)
		}
		h.console(t, http.MethodPut, "/release/async", "{").fails(http.StatusBadRequest, "Failed to upgrade helm release: ")
		body["name"] = "missing"
		h.console(t, http.MethodPut, "/release/async", body).fails(http.StatusBadGateway, "release: not found")

		h.console(t, http.MethodPatch, "/release/async", object{"name": "web", "namespace": namespace, "version": 1}).begun(namespace, "web", 3)
		h.settled(t, namespace, "web", 3, "deployed")

		h.console(t, http.MethodDelete, "/release/async?ns="+namespace+"&name=missing&version=1", nil).
			fails(http.StatusNotFound, "Failed to uninstall helm release: release: not found")
		gone := h.console(t, http.MethodDelete, "/release/async?ns="+namespace+"&name=web&version=3", nil)
		if gone.status != http.StatusNoContent || len(gone.body) > 0 || gone.header.Get("X-Helmtrail-Session") == "" {
			t.Errorf("the uninstall answered %d %q", gone.status, gone.body)
		}
		eventually(t, "the release is gone", func() bool {
			return h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=web", nil).status == http.StatusBadGateway
		})

		// No Secret is ever made under the release's name.
		secrets, err := core.Secrets(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(secrets.Items) > 0 {
			t.Errorf("Secrets are left: %v, %v", secrets.Items, err)
		}
	})
}

func TestConsoleSynchronousRows(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
		var r helmRelease
		// A chart that is on the server has a name and no address.
		body := object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": 1}}
		h.console(t, http.MethodPost, "/release", body).decode(http.StatusOK, &r)
		r.is(t, 1, "deployed")
		h.console(t, http.MethodPost, "/release", body).fails(http.StatusBadGateway, "Failed to install helm chart: ", "cannot re")
		h.console(t, http.MethodPost, "/release", "[]").fails(http.StatusBadGateway)

		body["values"] = object{"replicas": 2}
		h.console(t, http.MethodPut, "/release", body).decode(http.StatusOK, &r)
		r.is(t, 2, "deployed")
		h.console(t, http.MethodPut, "/release", "[]").fails(http.StatusBadRequest)

		h.console(t, http.MethodPatch, "/release", object{"name": "web", "namespace": namespace, "version": 1}).decode(http.StatusOK, &r)
		r.is(t, 3, "deployed")
		if r.Info["description"] != "Rollback to 1" {
			t.Errorf("the rollback is described as %v", r.Info["description"])
		}
		h.console(t, http.MethodPatch, "/release", object{"name": "web", "namespace": namespace, "version": 9}).fails(http.StatusBadGateway, "Failed to rollback helm release: ")
		h.console(t, http.MethodPatch, "/release", object{"name": "missing", "namespace": namespace, "version": 1}).fails(http.StatusBadGateway, "release: not found")

		// What a read answers is what helm itself knows.
		read := h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=web", nil)
		var got, want map[string]any
		read.decode(http.StatusOK, &got)
		if err := json.Unmarshal([]byte(clustertest.Helm(t, 4, "status", "web", "--namespace", namespace, "--output", "json")), &want); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"name", "namespace", "version", "manifest", "config"} {
			if diff := cmp.Diff(want[part], got[part]); diff != "" {
				t.Errorf("%s is not what helm says (-helm +answer):\n%s", part, diff)
			}
		}
		for _, field := range []string{"status", "notes", "description", "first_deployed", "last_deployed", "deleted"} {
			if diff := cmp.Diff(want["info"].(map[string]any)[field], got["info"].(map[string]any)[field]); diff != "" {
				t.Errorf("info.%s is not what helm says (-helm +answer):\n%s", field, diff)
			}
		}
		if diff := cmp.Diff([]string{"chart", "config", "info", "manifest", "name", "namespace", "version"}, withoutMethod(got)); diff != "" {
			t.Errorf("the release's fields (-want +got):\n%s", diff)
		}

		h.console(t, http.MethodDelete, "/release?ns="+namespace+"&name=missing", nil).fails(http.StatusNotFound, "Failed to uninstall helm release: release: not found")
		var removed struct {
			Release helmRelease
			Info    *string
		}
		h.console(t, http.MethodDelete, "/release?ns="+namespace+"&name=web", nil).decode(http.StatusOK, &removed)
		removed.Release.is(t, 3, "uninstalled")
		if removed.Info == nil || removed.Release.Info["deleted"] == nil {
			t.Errorf("the uninstall answered info %v, deleted %v", removed.Info, removed.Release.Info["deleted"])
		}
	})
}

// withoutMethod are a release's fields but the one that Helm 3 does not write.
func withoutMethod(release map[string]any) []string {
	delete(release, "apply_method")
	return slices.Sorted(maps.Keys(release))
}

func TestConsoleReads(t *testing.T) {
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	list := "/releases?ns=" + namespace
	if a := h.console(t, http.MethodGet, list, nil); a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != "[]" {
		t.Errorf("an empty list is %d %q, want []", a.status, a.body)
	}
	h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=web", nil).fails(http.StatusBadGateway, "Failed to find helm release: release: not found")
	h.console(t, http.MethodGet, "/release/history?ns="+namespace+"&name=web", nil).fails(http.StatusNotFound, "release: not found")
	h.console(t, http.MethodGet, list+"&limitInfo=perhaps", nil).fails(http.StatusBadGateway)

	for _, major := range clustertest.Versions {
		name := fmt.Sprintf("by-helm-%d", major)
		clustertest.Helm(t, major, "install", name, clustertest.Chart(t), "--namespace", namespace, "--set", "replicas=1")
		clustertest.Helm(t, major, "upgrade", name, clustertest.Chart(t), "--namespace", namespace, "--set", "replicas=2")
		h.settled(t, namespace, name, 2, "deployed")
		var history []helmRelease
		h.console(t, http.MethodGet, "/release/history?ns="+namespace+"&name="+name, nil).decode(http.StatusOK, &history)
		if len(history) != 2 || history[0].Manifest == "" || history[1].Chart.Values["tag"] != "1" {
			t.Errorf("the history is %+v", history)
		}
	}
	clustertest.TryHelm(t, 4, "install", "broken", clustertest.Chart(t), "--namespace", namespace, "--set", "replicas=many")
	var full, limited []map[string]any
	eventually(t, "all three are listed", func() bool {
		a := h.console(t, http.MethodGet, list, nil)
		return a.status == http.StatusOK && json.Unmarshal(a.body, &full) == nil && len(full) == 3
	})
	h.console(t, http.MethodGet, list+"&limitInfo=true", nil).decode(http.StatusOK, &limited)
	if len(limited) != 3 {
		t.Fatalf("limitInfo lists %d releases", len(limited))
	}
	for i, r := range limited {
		if diff := cmp.Diff([]string{"chart", "info", "name", "namespace", "version"}, slices.Sorted(maps.Keys(r))); diff != "" {
			t.Errorf("limitInfo's fields (-want +got):\n%s", diff)
		}
		chart := r["chart"].(map[string]any)
		if len(chart) != 1 || chart["metadata"].(map[string]any)["version"] != "1.2.3" {
			t.Errorf("limitInfo's chart is %v", chart)
		}
		if diff := cmp.Diff(full[i]["info"], r["info"]); diff != "" {
			t.Errorf("limitInfo's info (-full +limited):\n%s", diff)
		}
		for _, field := range []string{"deleted", "started_at"} {
			if value, ok := r["info"].(map[string]any)[field]; ok {
				t.Errorf("info has %s %q", field, value)
			}
		}
	}
	again := h.console(t, http.MethodGet, list+"&limitInfo=true", nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/helm"+list+"&limitInfo=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-None-Match", again.header.Get("ETag"))
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotModified {
		t.Errorf("an unchanged list answered %d", response.StatusCode)
	}
}

func TestConsoleRefusals(t *testing.T) {
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")})
	for path, methods := range map[string]string{
		"/release": "GET, POST, PUT, PATCH, DELETE", "/release/async": "POST, PUT, PATCH, DELETE", "/verify": "POST",
	} {
		a := h.console(t, http.MethodOptions, path, nil)
		a.fails(http.StatusMethodNotAllowed, "Unsupported method, supported methods are ")
		allowed := strings.Split(a.header.Get("Allow"), ", ")
		slices.Sort(allowed)
		want := strings.Split(methods, ", ")
		slices.Sort(want)
		if diff := cmp.Diff(want, allowed); diff != "" {
			t.Errorf("Allow of %s (-want +got):\n%s", path, diff)
		}
	}
	h.console(t, http.MethodPost, "/verify", object{"chart_url": "https://charts.example.com/a-1.tgz"}).fails(http.StatusNotImplemented)
	h.console(t, http.MethodGet, "/chart", nil).fails(http.StatusBadRequest)
	h.console(t, http.MethodGet, "/chart?url=nonsense", nil).fails(http.StatusBadRequest)
	h.console(t, http.MethodGet, "/charts/index.yaml?onlyCompatible=perhaps", nil).fails(http.StatusBadRequest)
	template := h.console(t, http.MethodPost, "/template", "{")
	if template.status != http.StatusBadRequest || !strings.HasPrefix(template.header.Get("Content-Type"), "text/plain") {
		t.Errorf("a template without a body answered %d %s", template.status, template.header.Get("Content-Type"))
	}
	h.console(t, http.MethodPost, "/template", object{"chart_url": "http://127.0.0.1:1/a-1.tgz"}).fails(http.StatusBadGateway, "Failed to render manifests: ")
}

func TestConsoleCharts(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		repository := serveChart(t)
		h := serveOn(t, arguments{helm: helm, more: []string{"--repo", "own=" + repository.url, "--repo", "broken=http://127.0.0.1:1"}})

		a := h.console(t, http.MethodGet, "/charts/index.yaml?namespace=default", nil)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/yaml" || a.header.Get("Cache-Control") != "no-store, must-revalidate" {
			t.Fatalf("the index answered %d %v %s", a.status, a.header, a.body)
		}
		var index struct {
			APIVersion string
			Entries    map[string][]struct {
				Name, Version, Digest string
				URLs                  []string
			}
			Annotations map[string]string
		}
		if err := yaml.Unmarshal(a.body, &index); err != nil {
			t.Fatal(err)
		}
		entry := index.Entries["web--own"]
		if len(entry) != 1 || entry[0].Version != "1.2.3" || entry[0].Digest == "" || !slices.Equal(entry[0].URLs, []string{repository.chart}) {
			t.Errorf("the index has %+v", index.Entries)
		}
		var warnings []struct{ Name, Error string }
		if err := json.Unmarshal([]byte(index.Annotations["console-warning"]), &warnings); err != nil || len(warnings) != 1 || warnings[0].Name != "broken" || warnings[0].Error == "" {
			t.Errorf("the warning is %q, %v", index.Annotations["console-warning"], err)
		}

		for _, query := range []string{"&indexEntry=web--own", "&noRepo=true", ""} {
			var chart struct {
				Metadata         map[string]any
				Values           map[string]any
				Templates, Files []struct {
					Name string
					Data []byte
				}
			}
			h.console(t, http.MethodGet, "/chart?url="+repository.chart+query, nil).decode(http.StatusOK, &chart)
			if chart.Metadata["name"] != "web" || chart.Values["tag"] != "1" || len(chart.Templates) != 2 || len(chart.Templates[0].Data) == 0 || chart.Files == nil {
				t.Errorf("the chart with %q is %+v", query, chart)
			}
		}
		rendered := h.console(t, http.MethodPost, "/template", object{
			"name": "web", "namespace": "shop", "chart_url": repository.chart, "indexEntry": "web--own", "values": object{"replicas": 7},
		})
		if rendered.status != http.StatusOK || rendered.header.Get("Content-Type") != "text/yaml" || !strings.Contains(string(rendered.body), "replicas: 7") {
			t.Errorf("the template answered %d %s %s", rendered.status, rendered.header.Get("Content-Type"), rendered.body)
		}
	})
}

// The requests that the console's frontend makes, in its order, from the form
// to the deleted release (HelmInstallUpgradePage.tsx, HelmReleaseList.tsx,
// HelmReleaseDetails.tsx, HelmReleaseRollbackPage.tsx). It watches Secrets
// through another proxy, so the Secrets are what it then finds.
func TestConsoleFrontendReplay(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		repository := serveChart(t)
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--repo", "own=" + repository.url}}), clustertest.Namespace(t)
		core := clustertest.Core(t)
		var chart struct{ Values, Metadata map[string]any }
		h.console(t, http.MethodGet, "/chart?url="+repository.chart+"&namespace="+namespace+"&indexEntry=web--own", nil).decode(http.StatusOK, &chart)

		form := object{"name": "shop", "namespace": namespace, "chart_url": repository.chart, "values": chart.Values, "indexEntry": "web--own"}
		first := h.console(t, http.MethodPost, "/release/async", form).begun(namespace, "shop", 1)
		var r helmRelease
		h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=shop", nil).decode(http.StatusOK, &r)
		if !strings.Contains(r.Manifest, "kind: Deployment") || r.Info["notes"] == nil {
			t.Errorf("right after the 201 the release has manifest %q and notes %v", r.Manifest, r.Info["notes"])
		}
		listed, err := core.Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm,status!=superseded"})
		if err != nil || len(listed.Items) != 1 || listed.Items[0].UID != first.UID {
			t.Errorf("the list's watch finds %v, %v", listed.Items, err)
		}
		var list []helmRelease
		h.console(t, http.MethodGet, "/releases?ns="+namespace+"&limitInfo=true", nil).decode(http.StatusOK, &list)
		if len(list) != 1 || list[0].Name != "shop" || list[0].Chart.Metadata["name"] != "web" {
			t.Errorf("the list is %+v", list)
		}

		details := h.settled(t, namespace, "shop", 1, "deployed")
		details.Config["replicas"] = 2
		delete(details.Config, "padding")
		upgrade := object{
			"name": "shop", "namespace": namespace, "chart_url": details.Chart.Metadata["annotations"].(map[string]any)["chart_url"],
			"values": details.Config, "indexEntry": "web--own",
		}
		h.console(t, http.MethodPut, "/release/async", upgrade).begun(namespace, "shop", 2)
		h.settled(t, namespace, "shop", 2, "deployed")

		var history []helmRelease
		h.console(t, http.MethodGet, "/release/history?ns="+namespace+"&name=shop", nil).decode(http.StatusOK, &history)
		if len(history) != 2 {
			t.Errorf("the history has %d revisions", len(history))
		}
		h.console(t, http.MethodPatch, "/release", object{"name": "shop", "namespace": namespace, "version": 1}).decode(http.StatusOK, &r)
		r.is(t, 3, "deployed")
		labelled, err := core.Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "name=shop"})
		if err != nil || len(labelled.Items) != 3 {
			t.Errorf("the details' watch finds %d Secrets, %v", len(labelled.Items), err)
		}
		if a := h.console(t, http.MethodDelete, "/release/async?name=shop&ns="+namespace+"&version=3", nil); a.status != http.StatusNoContent {
			t.Errorf("the delete answered %d %s", a.status, a.body)
		}
		eventually(t, "the list is empty", func() bool {
			var list []helmRelease
			h.console(t, http.MethodGet, "/releases?ns="+namespace+"&limitInfo=true", nil).decode(http.StatusOK, &list)
			return len(list) == 0
		})
	})
}

// A chart's own Secret may have the release's name, as those of many charts do.
// A failed operation of the contract must leave it alone.
func TestConsoleLeavesTheReleasesOwnSecretAlone(t *testing.T) {
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	core := clustertest.Core(t)
	own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web"}, StringData: map[string]string{"password": "kept"}}
	made, err := core.Secrets(namespace).Create(t.Context(), own, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.console(t, http.MethodPost, "/release/async", object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": "many"}})
	kept, err := core.Secrets(namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || kept.ResourceVersion != made.ResourceVersion {
		t.Errorf("the Secret is not as it was: %v, %v", kept, err)
	}
}

// The console reads nothing of a 401, and of a 403 only "message".
func TestConsoleWithoutTheRight(t *testing.T) {
	namespace := clustertest.Namespace(t)
	_, strangerToken := account(t, namespace, "stranger")
	reader, readerToken := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})

	body := object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": 1}}
	first := h.holding(operatorToken).console(t, http.MethodPost, "/release/async", body)
	first.begun(namespace, "web", 1)
	h.holding(operatorToken).settled(t, namespace, "web", 1, "deployed")
	var session struct{ User string }
	h.holding(operatorToken).get(t, h.release(namespace, "web")+"/sessions/"+first.header.Get("X-Helmtrail-Session"), &session)
	if session.User != operator {
		t.Errorf("the session is of %q, want %q", session.User, operator)
	}

	query := "?ns=" + namespace + "&name=web"
	for _, ask := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, "/releases?ns=" + namespace, nil}, {http.MethodGet, "/releases", nil},
		{http.MethodGet, "/release" + query, nil}, {http.MethodGet, "/release/history" + query, nil},
		{http.MethodPost, "/release/async", body}, {http.MethodPut, "/release", body}, {http.MethodPatch, "/release", body},
		{http.MethodDelete, "/release" + query, nil}, {http.MethodDelete, "/release/async" + query, nil},
	} {
		for _, token := range []string{"", "nonsense"} {
			if a := h.holding(token).console(t, ask.method, ask.path, ask.body); a.status != http.StatusUnauthorized || len(a.body) > 0 {
				t.Errorf("%s with the token %q answered %d %q, want 401 and no body", a.what, token, a.status, a.body)
			}
		}
		for _, token := range []string{strangerToken, readerToken} {
			var refused struct{ Error, Message string }
			a := h.holding(token).console(t, ask.method, ask.path, ask.body)
			a.decode(http.StatusForbidden, &refused)
			if refused.Error == "" || refused.Message != refused.Error || !strings.Contains(refused.Message, "secrets") {
				t.Errorf("%s answered %s, want the reason in error and message", a.what, a.body)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestConsoleReads(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
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
	if _, err := clustertest.TryHelm(t, 4, "install", "broken", clustertest.Chart(t), "--namespace", namespace, "--set", "replicas=many"); err == nil {
		t.Fatal("helm installs a chart with the replicas many")
	}
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
	t.Parallel()
	h := shared.on(t, clustertest.Binary(t, "helm4"))
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
	h.console(t, http.MethodGet, "/releases?limitInfo=perhaps", nil).fails(http.StatusBadGateway, "Failed to list helm releases: ")
	h.console(t, http.MethodGet, "/chart", nil).fails(http.StatusBadRequest)
	h.console(t, http.MethodGet, "/chart?url=nonsense", nil).fails(http.StatusBadRequest, "the chart's address must begin with")
	h.console(t, http.MethodGet, "/chart?url=http://user:password@127.0.0.1/a-1.tgz", nil).fails(http.StatusBadRequest, "chart_url", "basic_auth_secret_name")
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
		h := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", repository.host() + ",127.0.0.1:1", "--repo", "own=" + repository.url, "--repo", "broken=http://127.0.0.1:1"}})

		// Concurrent requests cause one request to the repository.
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() { h.poll(t, "/api/helm/charts/index.yaml?namespace=default", "") })
		}
		asking.Wait()
		if n := repository.indexes.Load(); n != 1 {
			t.Errorf("the index was read %d times for 20 requests", n)
		}
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

// This test sends the requests of the console's frontend in their order, from the
// form to the deleted release (HelmInstallUpgradePage.tsx, HelmReleaseList.tsx,
// HelmReleaseDetails.tsx, HelmReleaseRollbackPage.tsx). The frontend watches
// Secrets through another proxy, so the test looks for the Secrets in the
// cluster.
func TestConsoleFrontendReplay(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		repository := serveChart(t)
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", repository.host(), "--repo", "own=" + repository.url}}), clustertest.Namespace(t)
		core := clustertest.Core(t)
		var chart struct{ Values, Metadata map[string]any }
		h.console(t, http.MethodGet, "/chart?url="+repository.chart+"&namespace="+namespace+"&indexEntry=web--own", nil).decode(http.StatusOK, &chart)

		form := object{"name": "shop", "namespace": namespace, "chart_url": repository.chart, "values": chart.Values, "indexEntry": "web--own"}
		first := h.console(t, http.MethodPost, "/release/async", form).begun(namespace, "shop", 1)
		var r helmRelease
		h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=shop", nil).decode(http.StatusOK, &r)
		if !strings.Contains(r.Manifest, "kind: Deployment") || r.Info["notes"] == nil {
			t.Errorf("right after the 201, the release has manifest %q and notes %v", r.Manifest, r.Info["notes"])
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

// A chart may have a Secret of its own with the release's name. A failed
// operation of the contract must not touch it.
func TestConsoleLeavesTheReleasesOwnSecretAlone(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
	core := clustertest.Core(t)
	own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web"}, StringData: map[string]string{"password": "kept"}}
	made, err := core.Secrets(namespace).Create(t.Context(), own, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.console(t, http.MethodPost, "/release/async", object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": "many"}})
	kept, err := core.Secrets(namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || kept.ResourceVersion != made.ResourceVersion {
		t.Errorf("the Secret was changed: %v, %v", kept, err)
	}
}

// The console ignores the body of a 401, and reads only "message" of a 403.
func TestConsoleWithoutPermission(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	_, strangerToken := account(t, namespace, "stranger")
	reader, readerToken := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	h := shared.withLogin(t)

	body := object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": 1}}
	first := h.holding(operatorToken).console(t, http.MethodPost, "/release/async", body)
	first.begun(namespace, "web", 1)
	h.holding(operatorToken).settled(t, namespace, "web", 1, "deployed")
	var session struct{ User string }
	h.holding(operatorToken).get(t, h.release(namespace, "web")+"/sessions/"+first.header.Get("X-Helmtrail-Session"), &session)
	if session.User != operator {
		t.Errorf("the session's user is %q, want %q", session.User, operator)
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

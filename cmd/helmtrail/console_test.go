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
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// chartServer is a chart repository with the test chart, on this machine.
type chartServer struct {
	url, chart string
	// If user and password are set, requests need them.
	user, password string
	// indexes counts the requests for the index.
	indexes atomic.Int64
}

// host is the server's host and port, as --chart-hosts lists it.
func (s *chartServer) host() string { return hostOf(s.url) }

// hostOf returns a URL's host and port.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// packagedChart returns a folder with the test chart's archive and an index.
func packagedChart(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	clustertest.Helm(t, 4, "package", clustertest.Chart(t), "--destination", folder)
	clustertest.Helm(t, 4, "repo", "index", folder)
	return folder
}

func serveChart(t *testing.T) *chartServer {
	t.Helper()
	s := &chartServer{}
	files := http.FileServer(http.Dir(packagedChart(t)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); s.user != "" && (user != s.user || password != s.password) {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/index.yaml" {
			s.indexes.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url, s.chart = server.URL, server.URL+"/web-1.2.3.tgz"
	return s
}

// answer is a response of the contract.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

// console sends a request like the console's frontend: POST and PUT as JSON,
// PATCH with the type of a JSON patch but another body (console-fetch.ts).
func (h *server) console(t *testing.T, method, path string, body any) answer {
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

// fails checks that the response is exactly {"error":"..."} with a text that
// contains some words.
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

// helmRelease has the fields of a release that the frontend reads (helm-types.ts).
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

// begun checks a 201: it has the Secret that Helm wrote for this request.
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
func (h *server) settled(t *testing.T, namespace, name string, version int, status string) (r helmRelease) {
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
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", repository.host(), "--repo", "own=" + repository.url}}), clustertest.Namespace(t)
		core := clustertest.Core(t)
		body := object{"name": "web", "namespace": namespace, "chart_url": repository.chart, "indexEntry": "web--own", "values": object{"replicas": 2}}

		first := h.console(t, http.MethodPost, "/release/async", body).begun(namespace, "web", 1)
		stored, err := core.Secrets(namespace).Get(t.Context(), first.Name, metav1.GetOptions{})
		if err != nil || stored.UID != first.UID {
			t.Errorf("the Secret %s is not the one in the cluster: %v", first.Name, err)
		}
		installed := h.settled(t, namespace, "web", 1, "deployed")
		if url := installed.Chart.Metadata["annotations"].(map[string]any)["chart_url"]; url != repository.chart {
			t.Errorf("the chart's annotated URL is %v", url)
		}

		// An old Secret is never returned, but Helm's own error is.
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

		// No Secret with the release's own name was created.
		secrets, err := core.Secrets(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(secrets.Items) > 0 {
			t.Errorf("Secrets are left: %v, %v", secrets.Items, err)
		}
	})
}

func TestConsoleSynchronousRows(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		var r helmRelease
		// A chart on the server has a name and no URL.
		body := object{"name": "web", "namespace": namespace, "chart_url": "web", "values": object{"replicas": 1}}
		first := h.console(t, http.MethodPost, "/release", body)
		first.decode(http.StatusOK, &r)
		r.is(t, 1, "deployed")
		again := h.console(t, http.MethodPost, "/release", body)
		again.fails(http.StatusBadGateway, "Failed to install helm chart: ", "cannot re")
		var session helmtrail.Session
		for _, a := range []answer{first, again} {
			h.get(t, h.release(namespace, "web")+"/sessions/"+a.header.Get("X-Helmtrail-Session"), &session)
			if failed := session.State == helmtrail.StateFailed; failed != (a.status == http.StatusBadGateway) {
				t.Errorf("the session of an answer with %d is %s", a.status, session.State)
			}
		}
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

		// A read returns the same as helm itself.
		read := h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=web", nil)
		var got, want map[string]any
		read.decode(http.StatusOK, &got)
		if err := json.Unmarshal([]byte(clustertest.Helm(t, 4, "status", "web", "--namespace", namespace, "--output", "json")), &want); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"name", "namespace", "version", "manifest", "config"} {
			if diff := cmp.Diff(want[part], got[part]); diff != "" {
				t.Errorf("%s differs from helm (-helm +answer):\n%s", part, diff)
			}
		}
		for _, field := range []string{"status", "notes", "description", "first_deployed", "last_deployed", "deleted"} {
			if diff := cmp.Diff(want["info"].(map[string]any)[field], got["info"].(map[string]any)[field]); diff != "" {
				t.Errorf("info.%s differs from helm (-helm +answer):\n%s", field, diff)
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

// withoutMethod returns a release's fields except the one that Helm 3 does not write.
func withoutMethod(release map[string]any) []string {
	delete(release, "apply_method")
	return slices.Sorted(maps.Keys(release))
}

// While a release is pending, the console offers only Delete.
func TestConsoleUninstallsAReleaseDuringItsInstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		install := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "slow", "delay": "300s"},
			"options": object{"wait": true, "timeoutSeconds": 300},
		})
		h.settled(t, namespace, "web", 1, "pending-install")
		if a := h.console(t, http.MethodDelete, "/release/async?ns="+namespace+"&name=web&version=1", nil); a.status != http.StatusNoContent {
			t.Fatalf("the delete answered %d %s", a.status, a.body)
		}
		if kind, _ := end(t, h.events(t.Context(), t, install.Events, 1)); kind != helmtrail.TypeCanceled {
			t.Errorf("the install ended %s, want CANCELED", kind)
		}
		eventually(t, "the release is gone", func() bool {
			return h.console(t, http.MethodGet, "/release?ns="+namespace+"&name=web", nil).status == http.StatusBadGateway
		})
	})
}

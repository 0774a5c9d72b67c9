package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

const (
	valuePassword = "S3cr3t-A-of-the-values"
	valueToken    = "S3cr3t-B-of-the-values"
	chartPassword = "S3cr3t-C-of-the-repository"
)

// seen returns the secrets that a text contains, in plain text or base64.
func seen(text string) (secrets []string) {
	for _, secret := range []string{valuePassword, valueToken, chartPassword} {
		if strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secret))) {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

func hides(t *testing.T, where, text string) {
	t.Helper()
	if shown := seen(text); shown != nil {
		t.Errorf("%s shows %q", where, shown)
	}
}

// logBuffer collects a program's log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serveLogged is serveOn with a buffer for the program's log at level debug.
func serveLogged(t *testing.T, a arguments) (*server, *logBuffer) {
	t.Helper()
	logs := &logBuffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log:\n%s", logs)
		}
	})
	a.more = append([]string{"--log-level", "debug"}, a.more...)
	return serveWith(t, a, logs), logs
}

// pack returns an archive of a chart's folder.
func pack(t *testing.T, folder string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	if err := files.AddFS(os.DirFS(filepath.Dir(folder))); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// serveRepository serves the test chart, either to everybody or over TLS with a password.
func serveRepository(t *testing.T, open bool) *httptest.Server {
	t.Helper()
	packed := pack(t, clustertest.Chart(t))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n")
	})
	mux.HandleFunc("GET /web-1.2.3.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) })
	if open {
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "reader" || password != chartPassword {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// Values and credentials could be read in the process list:
// https://github.com/argoproj/argo-cd/issues/17821. Here they are only in private
// files, which are removed when the session ends.
func TestSecretsAreOnlyInPrivateFiles(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		server, namespace, data := serveRepository(t, false), clustertest.Namespace(t), t.TempDir()
		h, logs := serveLogged(t, arguments{helm: helm, dataDir: data, charts: t.TempDir(), more: []string{"--chart-hosts", hostOf(server.URL)}})
		_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "charts"},
			StringData: map[string]string{
				"username": "reader", "password": chartPassword,
				"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web", "repo": server.URL, "credentialsSecret": "charts"},
			"values":     object{"tag": never["tag"], "db": object{"password": valuePassword}},
			"valuesYAML": "api:\n  token: " + valueToken + "\n",
			"options":    object{"wait": true, "timeoutSeconds": 300},
		})
		h.awaitEvent(t, answer, func(e helmtrail.Event) bool { return e.Type == helmtrail.TypeResourceStatus })
		supervisor, running := processes(t, answer.SessionID)
		for name, pid := range map[string]int{"supervisor": supervisor, "helm": running} {
			for _, file := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
				if err != nil || len(text) == 0 && file == "cmdline" {
					t.Errorf("%s of %s cannot be read while it runs: %v", file, name, err)
				}
				hides(t, file+" of "+name, string(text))
			}
		}
		folder := filepath.Join(data, "sessions", answer.SessionID)
		private := 0
		walk(t, folder, func(path string, info fs.FileInfo) {
			if info.Mode().Perm()&0o077 != 0 && !strings.HasPrefix(path, filepath.Join(folder, "home")) {
				t.Errorf("%s can be read by others: %v", path, info.Mode())
			}
			if info.Mode().IsRegular() && seen(readFile(t, path)) != nil {
				private++
				if info.Mode().Perm() != 0o600 {
					t.Errorf("%s holds a secret and has the mode %v", path, info.Mode())
				}
			}
		})
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 || private == 0 {
			t.Errorf("the session's folder: %v, %v, %d files with secrets", info, err, private)
		}
		becomesReady(t, namespace)

		events := h.events(t.Context(), t, answer.Events, 1)
		if kind, last := end(t, events); kind != helmtrail.TypeCompleted {
			t.Errorf("the end is %s %+v", kind, last)
		}
		text, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		hides(t, "the stream", string(text))
		var session json.RawMessage
		h.get(t, h.release(namespace, "web")+"/sessions/"+answer.SessionID, &session)
		hides(t, "the session", string(session))
		started := events[0].Body.(*helmtrail.Started)
		if got := started.Command[len(started.Command)-1]; got != "web" || slices.ContainsFunc(started.Command, func(s string) bool { return strings.Contains(s, data) }) {
			t.Errorf("the command contains the server's files: %q", started.Command)
		}
		eventually(t, "the session's folder is gone", func() bool {
			_, err := os.Stat(folder)
			return err != nil
		})
		h.stop()
		hides(t, "the log", logs.String())
		walk(t, data, func(path string, info fs.FileInfo) {
			if info.Mode().IsRegular() {
				hides(t, path, readFile(t, path))
			}
		})
	})
}

func walk(t *testing.T, folder string, f func(path string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Files removed by Helm in the meantime do not matter.
		if info, err := entry.Info(); err == nil {
			f(path, info)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// Helm would read a name that starts with a dash as a flag:
// https://github.com/helmfile/helmfile/issues/2563. It is rejected before
// anything is stored or run.
func TestRejectedRequestsStartNothing(t *testing.T) {
	t.Parallel()
	data, namespace := t.TempDir(), clustertest.Namespace(t)
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), dataDir: data})
	web := object{"ref": "web"}
	for _, test := range []struct {
		code, field string
		namespace   string
		body        object
	}{
		{"bad_request", "name", namespace, object{"name": "-h", "chart": web}},
		{"bad_request", "name", namespace, object{"name": "--kubeconfig=/x", "chart": web}},
		{"bad_request", "name", namespace, object{"name": "-ndefault", "chart": web}},
		{"bad_request", "name", namespace, object{"name": "../web", "chart": web}},
		{"bad_request", "name", namespace, object{"name": "Web", "chart": web}},
		{"bad_request", "name", namespace, object{"name": "web\n", "chart": web}},
		{"bad_request", "namespace", "--all-namespaces", object{"name": "web", "chart": web}},
		{"bad_request", "chart.ref", namespace, object{"name": "web", "chart": object{"ref": "--post-renderer=/bin/sh"}}},
		{"bad_request", "chart.ref", namespace, object{"name": "web", "chart": object{"ref": "../web"}}},
		{"bad_request", "chart.ref", namespace, object{"name": "web", "chart": object{"ref": "/etc"}}},
		{"bad_request", "chart.ref", namespace, object{"name": "web", "chart": object{"ref": "upload:../../etc"}}},
		{"bad_request", "chart.ref", namespace, object{"name": "web", "chart": object{"ref": "https://u:p@example.com/web.tgz"}}},
		{"bad_request", "chart.version", namespace, object{"name": "web", "chart": object{"ref": "web", "version": "-d"}}},
		{"bad_request", "chart.repo", namespace, object{"name": "web", "chart": object{"ref": "web", "repo": "--ca-file=/x"}}},
		{"bad_request", "options.description", namespace, object{"name": "web", "chart": web, "options": object{"description": "a\nb"}}},
		{"bad_request", "options.labels", namespace, object{"name": "web", "chart": web, "options": object{"labels": object{"a": "b,c=d"}}}},
		{"bad_request", "options.wait", namespace, object{"name": "web", "chart": web, "options": object{"wait": "--debug"}}},
		{"unsupported_option", "forceReplace", namespace, object{"name": "web", "chart": web, "options": object{"forceReplace": true}}},
		{"unknown_field", "options.postRenderer", namespace, object{"name": "web", "chart": web, "options": object{"postRenderer": "sh"}}},
	} {
		var answer struct {
			Code    string
			Details struct{ Field string }
		}
		status := h.call(t, http.MethodPost, h.releases(test.namespace), test.body, &answer)
		if status != http.StatusBadRequest || answer.Code != test.code || answer.Details.Field != test.field {
			t.Errorf("%v: answered %d %s %q, want 400 %s %q", test.body, status, answer.Code, answer.Details.Field, test.code, test.field)
		}
	}
	if left, err := os.ReadDir(filepath.Join(data, "sessions")); err != nil || len(left) > 0 {
		t.Errorf("%d sessions were started, %v", len(left), err)
	}
	var sessions struct{ Items []any }
	h.get(t, h.release(namespace, "web")+"/sessions", &sessions)
	if len(sessions.Items) > 0 {
		t.Errorf("the release has the sessions %v", sessions.Items)
	}
}

// Helm names the value that breaks the chart's schema. FAILED has Helm's message.
func TestSchemaErrorsCanBeRead(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		chart := clustertest.Chart(t)
		schema := `{"type":"object","properties":{"replicas":{"type":"integer"},"db":{"type":"object","properties":{"password":{"type":"string","pattern":"^[a-z]+$"}}}}}`
		if err := os.WriteFile(filepath.Join(chart, "values.schema.json"), []byte(schema), 0o644); err != nil {
			t.Fatal(err)
		}
		h, namespace := serveOn(t, arguments{helm: helm, charts: filepath.Dir(chart)}), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"replicas": "three", "db": object{"password": valuePassword}},
		})
		events := h.events(t.Context(), t, answer.Events, 1)
		kind, last := end(t, events)
		if kind != helmtrail.TypeFailed || !strings.Contains(last.Message, "/replicas") || !strings.Contains(last.Message, "integer") {
			t.Errorf("the end is %s %q, want helm's message about /replicas", kind, last.Message)
		}
		text, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		hides(t, "the stream", string(text))
	})
}

func TestUploadedChartsAndRepositoriesAreInstalled(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		server, namespace, data := serveRepository(t, true), clustertest.Namespace(t), t.TempDir()
		h := serveOn(t, arguments{helm: helm, dataDir: data, more: []string{"--chart-hosts", hostOf(server.URL), "--repo", "own=" + server.URL}})
		response, err := h.client.Post(h.url+"/charts", "application/gzip", bytes.NewReader(pack(t, clustertest.Chart(t))))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var uploaded catalog.Item
		if err := json.NewDecoder(response.Body).Decode(&uploaded); err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("the upload answered %d, %v", response.StatusCode, err)
		}
		var charts struct{ Items []catalog.Item }
		h.get(t, "/charts", &charts)
		var sources []catalog.Source
		for _, c := range charts.Items {
			sources = append(sources, c.Source)
			if c.Name != "web" || c.Versions[0].Version != "1.2.3" {
				t.Errorf("listed %+v", c)
			}
		}
		if !slices.Equal(sources, []catalog.Source{catalog.FromDirectory, catalog.FromUpload, catalog.FromRepository}) {
			t.Errorf("listed from %v", sources)
		}
		for i, chart := range charts.Items {
			name := fmt.Sprint("web-", i)
			answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": name, "chart": object{"ref": chart.Ref, "repo": chart.Repo}})
			events := h.events(t.Context(), t, answer.Events, 1)
			if kind, last := end(t, events); kind != helmtrail.TypeCompleted {
				t.Errorf("%s from the %s ended %s: %s", name, chart.Source, kind, last.Message)
			}
			started := events[0].Body.(*helmtrail.Started)
			if shown := strings.Join(started.Command, " "); started.Command[len(started.Command)-1] != chart.Ref || strings.Contains(shown, data) {
				t.Errorf("the command of %s is %q", name, shown)
			}
		}
	})
}

// text returns the response of a path.
func (h *server) text(t *testing.T, path string) string {
	t.Helper()
	response, err := h.client.Get(h.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("GET %s answered %d, %v", path, response.StatusCode, err)
	}
	return string(data)
}

// The manifest rendered by a dry run may hold secrets. It is not part of the log.
func TestADryRunChangesNothingAndLogsNoManifest(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		for _, way := range []string{"client", "server"} {
			answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
				"name": "web", "chart": object{"ref": "web"}, "values": object{"db": object{"password": valuePassword}},
				"options": object{"dryRun": way},
			})
			events := h.events(t.Context(), t, answer.Events, 1)
			if kind, last := end(t, events); kind != helmtrail.TypeCompleted || last.Release != nil {
				t.Errorf("dryRun %s ended %s %+v", way, kind, last)
			}
			text, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			hides(t, "the stream", string(text))
			if strings.Contains(string(text), "kind: Deployment") {
				t.Errorf("dryRun %s logs the manifest: %s", way, text)
			}
			rendered := h.text(t, h.release(namespace, "web")+"/sessions/"+answer.SessionID+"/rendered")
			hides(t, "what was rendered", rendered)
			if !strings.Contains(rendered, "kind: Deployment") {
				t.Errorf("dryRun %s rendered %q", way, rendered)
			}
		}
		list, err := clustertest.Core(t).Secrets(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("%d Secrets were created, %v", len(list.Items), err)
		}
	})
}

package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// rehearse performs a dry run of an operation and returns its session.
func (h *server) rehearse(t *testing.T, method, path string, body object) string {
	t.Helper()
	options, _ := body["options"].(object)
	if options == nil {
		options = object{}
		body["options"] = options
	}
	options["dryRun"] = "server"
	answer := h.submit(t, method, path, body)
	if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted || !last.Rendered {
		t.Fatalf("the dry run ended %s, rendered %v: %s", kind, last.Rendered, last.Message)
	}
	return answer.SessionID
}

func TestADriftIsReportedAndMasked(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "audited"}, "values": object{"db": object{"password": valuePassword}},
		})
		h.events(t.Context(), t, answer.Events, 1)
		var found drift.Report
		h.get(t, h.release(namespace, "web")+"/drift", &found)
		if found.Drifted || found.Revision != 1 || len(found.Objects) != 3 || found.Counts[drift.Same] != 3 {
			t.Errorf("right after the install: %+v", found)
		}
		patch := `{"data":{"a":"b3RoZXI="},"stringData":{"b":"` + valuePassword + `-changed"}}`
		if _, err := clustertest.Core(t).Secrets(namespace).Patch(t.Context(), "audited", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "by-hand"}); err != nil {
			t.Fatal(err)
		}
		text := h.text(t, h.release(namespace, "web")+"/drift")
		hides(t, "the drift", text)
		if !strings.Contains(text, `"path":"data.a"`) || !strings.Contains(text, `"manager":"by-hand"`) {
			t.Errorf("the masked drift is %s", text)
		}
		if revealed := h.text(t, h.release(namespace, "web")+"/drift?reveal=true"); !strings.Contains(revealed, "b3RoZXI=") {
			t.Errorf("the revealed drift is %s", revealed)
		}
		response, err := h.client.Get(h.url + h.release(namespace, "web") + "/drift?reveal=true")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if kept := response.Header.Get("Cache-Control"); kept != "no-store" {
			t.Errorf("a browser may cache the revealed drift: %q", kept)
		}
	})
}

func TestARenderedManifestIsComparedAndValidated(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		values := func(more object) object {
			all := object{"db": object{"password": valuePassword}}
			for key, value := range more {
				all[key] = value
			}
			return all
		}
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "audited"}, "values": values(nil)})
		h.events(t.Context(), t, answer.Events, 1)
		release := h.release(namespace, "web")

		same := h.rehearse(t, http.MethodPut, release, object{"chart": object{"ref": "audited"}, "values": values(nil)})
		changed := h.rehearse(t, http.MethodPut, release, object{"chart": object{"ref": "audited"}, "values": values(object{"child": object{"level": 2}, "db": object{"password": valuePassword + "2"}})})
		for _, session := range []string{same, changed} {
			for _, path := range []string{"/sessions/" + session + "/rendered", "/sessions/" + session + "/validation", "/diff?toSession=" + session} {
				hides(t, path, h.text(t, release+path))
			}
		}

		var diff struct {
			From, To struct {
				Revision int
				Session  string
			}
			Parts    []string
			Manifest []struct{ Change, Kind, Name, Diff string }
			Notes    string
		}
		h.get(t, release+"/diff?toSession="+same, &diff)
		// The chart writes the revision's number into a ConfigMap and the notes.
		if diff.From.Revision != 1 || diff.To.Session != same || len(diff.Parts) != 3 || len(diff.Manifest) != 1 || diff.Manifest[0].Kind != "ConfigMap" || !strings.Contains(diff.Notes, "+Revision 2") {
			t.Errorf("with the same values the difference is %+v", diff)
		}
		h.get(t, release+"/diff?part=manifest&toSession="+changed, &diff)
		if len(diff.Manifest) != 3 {
			t.Errorf("with other values the difference is %+v", diff)
		}
		if code := h.call(t, http.MethodGet, release+"/diff?reveal=true&toSession="+changed, nil, &struct{}{}); code != http.StatusBadRequest {
			t.Errorf("revealing a rendered manifest answered %d", code)
		}

		verdicts := func(session string) map[string]drift.Verdict {
			var found drift.Validation
			h.get(t, release+"/sessions/"+session+"/validation", &found)
			all := map[string]drift.Verdict{}
			for _, o := range found.Objects {
				all[o.Kind+" "+o.Name] = o.Verdict
			}
			return all
		}
		if found := verdicts(same); found["Secret audited"] != drift.VerdictUnchanged || found["ConfigMap audited"] != drift.VerdictChange || found["ConfigMap child"] != drift.VerdictUnchanged {
			t.Errorf("with the same values the verdict is %v", found)
		}
		if found := verdicts(changed); found["Secret audited"] != drift.VerdictChange || found["ConfigMap child"] != drift.VerdictChange {
			t.Errorf("with other values the verdict is %v", found)
		}
	})
}

func TestAnInstallIsValidatedBeforeItsNamespaceExists(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		folder := t.TempDir()
		h, namespace := serveOn(t, arguments{helm: helm, dataDir: folder}), clustertest.Namespace(t)+"-later"
		for replicas, want := range map[string]struct {
			valid   bool
			verdict drift.Verdict
		}{"2": {true, drift.VerdictCreate}, "abc": {false, drift.VerdictRefused}} {
			session := h.rehearse(t, http.MethodPost, h.releases(namespace), object{
				"name": "web", "chart": object{"ref": "web"}, "values": object{"replicas": replicas}, "options": object{"createNamespace": true},
			})
			var found drift.Validation
			h.get(t, h.release(namespace, "web")+"/sessions/"+session+"/validation", &found)
			if first := found.Objects[0]; found.Valid != want.valid || found.Message == "" || first.Verdict != want.verdict {
				t.Errorf("with %s replicas the answer is %+v", replicas, found)
			}
		}
		eventually(t, "nothing is left of the dry runs", func() bool {
			left, err := os.ReadDir(filepath.Join(folder, "sessions"))
			return err == nil && len(left) == 0
		})
	})
}

func TestRevisionsAreComparedAcrossClusters(t *testing.T) {
	t.Parallel()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{
		"--auth", "kubernetes", "--context", currentContext(t), "--cluster", "other=" + clustertest.Kubeconfig(t),
	}})
	namespace, elsewhere := clustertest.Namespace(t), clustertest.Namespace(t)
	reader, token := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))
	chart := clustertest.Chart(t)
	clustertest.Helm(t, 4, "install", "web", chart, "--namespace", namespace)
	clustertest.Helm(t, 4, "install", "web", chart, "--namespace", elsewhere)
	caller := h.holding(token)
	eventually(t, "the release is known", func() bool {
		code, _ := caller.ask(t, http.MethodGet, caller.release(namespace, "web"), "")
		return code == http.StatusOK
	})

	path := caller.release(namespace, "web") + "/diff?part=manifest&fromCluster="
	var refused struct{ Details struct{ Cluster string } }
	if code := caller.call(t, http.MethodGet, path+"other", nil, &refused); code != http.StatusUnauthorized || refused.Details.Cluster != "other" {
		t.Errorf("with a token in the header: %d %q", code, refused.Details.Cluster)
	}
	if code := caller.call(t, http.MethodGet, path+"nowhere", nil, &struct{}{}); code != http.StatusNotFound {
		t.Errorf("a missing cluster answered %d", code)
	}

	login, err := h.client.Post(h.url+"/login", "application/json", strings.NewReader(`{"cluster":"other","token":"`+token+`"}`))
	if err != nil || login.StatusCode != http.StatusOK {
		t.Fatalf("the login answered %v, %v", login, err)
	}
	login.Body.Close()
	ask := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range login.Cookies() {
			request.AddCookie(cookie)
		}
		response, err := caller.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(answer)
	}
	if code, answer := ask(path + "other"); code != http.StatusOK || !strings.Contains(answer, `"cluster":"other"`) || !strings.Contains(answer, `"identical":true`) {
		t.Errorf("the same revision in the other cluster: %d %s", code, answer)
	}
	if code, answer := ask(path + "other&fromNamespace=" + elsewhere); code != http.StatusForbidden {
		t.Errorf("a namespace of the other cluster without permission: %d %s", code, answer)
	}
	if code, answer := ask(path + "other&reveal=true"); code != http.StatusForbidden {
		t.Errorf("revealing without permission: %d %s", code, answer)
	}
	// The reveal is recorded in the trails of both clusters.
	bind(t, namespace, reader, exampleRole(t, "auditor"))
	eventually(t, "revealed across clusters", func() bool { // the refusal is cached for a moment
		code, _ := ask(path + "other&reveal=true")
		return code == http.StatusOK
	})
	for _, cluster := range []string{h.cluster, "other"} {
		if code, answer := ask("/" + cluster + "/namespaces/" + namespace + "/releases/web/trail?user=" + url.QueryEscape(reader)); code != http.StatusOK || !strings.Contains(answer, `"kind":"reveal"`) {
			t.Errorf("the trail of cluster %s answers %d %s", cluster, code, answer)
		}
	}
}

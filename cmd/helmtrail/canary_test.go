package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// canaryForms are the forms of a canary in texts: plain, URL-encoded, and in base64 at
// any offset.
func canaryForms(canary string) []string {
	forms := []string{canary, url.QueryEscape(canary)}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		// The characters that depend on the neighbours are left out.
		forms = append(forms, encoded[(shift*4+2)/3+1:len(encoded)-4])
	}
	return forms
}

// findCanary reports where a text holds one of the forms.
func findCanary(t *testing.T, forms []string, where, text string) {
	t.Helper()
	for _, form := range forms {
		if at := strings.Index(text, form); at >= 0 {
			t.Errorf("%s holds the canary after %q", where, text[max(0, at-80):at])
		}
	}
}

// roleFor creates a role with these rules and returns its name.
func roleFor(t *testing.T, rules ...rbacv1.PolicyRule) string {
	t.Helper()
	roles := rbac(t).ClusterRoles()
	made, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "helmtrail-test-"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roles.Delete(context.Background(), made.Name, metav1.DeleteOptions{}) })
	return made.Name
}

var seesReleases = rbacv1.PolicyRule{APIGroups: []string{"helmtrail.dev"}, Resources: []string{"releases"}, Verbs: []string{"get", "list"}}

// heard returns everything that a stream sent until done.
func (h *server) heard(t *testing.T, path string, done func(frame) bool) string {
	t.Helper()
	var text strings.Builder
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	err := h.frames(ctx, path, func(f frame) bool {
		fmt.Fprintln(&text, f.id, f.event, f.data)
		return !done(f)
	})
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return text.String()
}

// An auditor who may only see releases gets every secret masked and can reveal
// nothing. One who may read Secrets can reveal them, which the trail records. A
// caller with neither permission learns nothing, also about former lineages. No
// secret appears anywhere else: https://github.com/argoproj/argo-cd/issues/14065.
func TestNoSecretOfAReleaseIsRevealed(t *testing.T) {
	t.Parallel()
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", version), func(t *testing.T) {
			t.Parallel()
			newAudit(t, version).check(t)
		})
	}
}

// canaryAudit is a release that has been through every operation, with callers of
// different permissions.
type canaryAudit struct {
	*server                   // as the release's operator
	all                       *server
	namespace, data, canary   string
	logs                      *logBuffer
	sessions                  []accepted
	cursor                    string // before the first operation
	auditor, revealer, nobody *server
	revealerName              string
}

func newAudit(t *testing.T, version int) *canaryAudit {
	t.Helper()
	a := &canaryAudit{canary: rand.Text(), data: t.TempDir(), namespace: clustertest.Namespace(t)}
	chart := auditedChart(t, a.canary)
	operator := exampleRole(t, "operator")
	name, operatorToken := account(t, a.namespace, "operator")
	bind(t, a.namespace, name, operator)
	auditor, auditorToken := account(t, a.namespace, "auditor")
	bind(t, a.namespace, auditor, roleFor(t, seesReleases))
	var revealerToken string
	a.revealerName, revealerToken = account(t, a.namespace, "revealer")
	bind(t, a.namespace, a.revealerName, roleFor(t, seesReleases, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}))
	_, nobodyToken := account(t, a.namespace, "nobody")

	h, logs := serveLogged(t, arguments{
		helm: clustertest.Binary(t, fmt.Sprintf("helm%d", version)), charts: filepath.Dir(chart), dataDir: a.data, more: []string{"--auth", "kubernetes"},
	})
	a.all, a.logs, a.server = h, logs, h.holding(operatorToken)
	a.auditor, a.revealer, a.nobody = h.holding(auditorToken), h.holding(revealerToken), h.holding(nobodyToken)
	var list struct{ Cursor string }
	a.get(t, a.releases(a.namespace), &list)
	a.cursor = list.Cursor

	install, rollback := audited(t, a.server, version, a.namespace, chart, a.canary)
	a.sessions = append(a.sessions, install, rollback)
	run := func(method, path string, body any, want helmtrail.Type) {
		t.Helper()
		answer := a.submit(t, method, path, body)
		if kind, last := end(t, a.events(t.Context(), t, answer.Events, 1)); kind != want {
			t.Errorf("%s %s ended %s: %s", method, path, kind, last.Message)
		}
		a.sessions = append(a.sessions, answer)
	}
	own := a.release(a.namespace, "web")
	values := object{"db": object{"password": a.canary}, "code": a.canary}
	run(http.MethodPut, own, object{"chart": object{"ref": "audited"}, "values": values, "options": object{"dryRun": "client"}}, helmtrail.TypeCompleted)
	broken := object{"db": values["db"], "code": a.canary, "broken": true}
	run(http.MethodPut, own, object{"chart": object{"ref": "audited"}, "values": broken, "options": object{"historyMax": 2}}, helmtrail.TypeFailed)
	run(http.MethodDelete, own, nil, helmtrail.TypeCompleted)
	run(http.MethodPost, a.releases(a.namespace), object{"name": "web", "chart": object{"ref": "audited"}, "values": values}, helmtrail.TypeCompleted)
	return a
}

// paths returns all paths that show the release, including its former lineage.
func (a *canaryAudit) paths(t *testing.T) []string {
	t.Helper()
	own, cluster := a.release(a.namespace, "web"), "/"+a.cluster
	var history pastList
	eventually(t, "both lineages in the history", func() bool {
		a.get(t, own+"/history", &history)
		return len(history.Lineages) == 2 && !history.Lineages[1].InCluster && len(history.Items) == 1
	})
	former := "lineage=" + history.Lineages[1].ID
	paths := []string{
		cluster + "/releases", cluster + "/trail", cluster + "/trail?verify=true", a.releases(a.namespace), own, own + "/resources", own + "/drift",
		own + "/sessions", own + "/history", own + "/history?" + former, own + "/trail", own + "/trail?" + former,
		own + "/diff", own + "/diff?all=true", own + "/diff?from=1&to=2&" + former, own + "/diff?from=4&to=1&fromLineage=" + history.Lineages[1].ID,
		own + "/diff?from=1&to=4&all=true&" + former,
	}
	for _, session := range a.sessions {
		paths = append(paths, own+"/sessions/"+session.SessionID)
	}
	paths = append(paths, own+"/sessions/"+a.sessions[2].SessionID+"/rendered")
	for _, lineage := range []string{"", former} {
		for revision := 1; revision <= 4 && (revision == 1 || lineage != ""); revision++ {
			for _, part := range []string{"values", "values?all=true", "manifest", "hooks", "notes", "metadata", "chart", "raw"} {
				path := fmt.Sprintf("%s/revisions/%d/%s", own, revision, part)
				if lineage != "" {
					path = with(path, lineage)
				}
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// with adds a parameter to a path's query.
func with(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// checkAllRoutes fails if openapi.yaml has a route that shows a release but no path in
// paths covers it.
func (a *canaryAudit) checkAllRoutes(t *testing.T, paths []string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	for route, item := range doc.Paths.Map() {
		if item.Get == nil || !strings.HasPrefix(route, "/{cluster}") {
			continue
		}
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(route), "[^/]+") + "$")
		if !slices.ContainsFunc(paths, func(path string) bool { return pattern.MatchString(strings.Split(path, "?")[0]) }) {
			t.Errorf("no path covers %s", route)
		}
	}
}

func (a *canaryAudit) check(t *testing.T) {
	own, cluster := a.release(a.namespace, "web"), "/"+a.cluster
	forms, paths := canaryForms(a.canary), a.paths(t)
	streams := []string{cluster + "/releases/events?since=" + url.QueryEscape(a.cursor)}
	for _, session := range a.sessions {
		streams = append(streams, session.Events)
	}
	// Some routes belong to sessions that do not matter here.
	a.checkAllRoutes(t, append(slices.Concat(paths, streams), own+"/sessions/x/validation"))

	for _, path := range paths {
		for _, accept := range []string{"application/json", "application/yaml", "text/plain", "application/x-ndjson"} {
			findCanary(t, forms, path+" as "+accept, a.auditor.answer(t, path, accept, http.StatusOK))
		}
		if code, answer := a.nobody.ask(t, http.MethodGet, path, ""); code != http.StatusForbidden || strings.Contains(answer, "audited") {
			t.Errorf("%s without permission: %d %.200s", path, code, answer)
		}
	}
	a.checkRaw(t)
	for i, path := range streams {
		seen := 0
		text := a.auditor.heard(t, path, func(f frame) bool {
			seen++
			// The cluster's stream does not end. Read it up to the last install's
			// last transition.
			return i == 0 && f.event == "TRANSITION" && strings.Contains(f.data, `"revision":1,`) && strings.Contains(f.data, `"status":"deployed"`) && seen > 8
		})
		findCanary(t, forms, path, text)
		if i == 0 && !strings.Contains(text, "Unsupported value: \\\"«masked:") {
			t.Errorf("the API server's refusal does not quote the masked secret: %s", text)
		}
	}
	a.checkReveals(t, paths)
	a.all.stop()
	findCanary(t, forms, "the log", a.logs.String())
	stored := 0
	walk(t, a.data, func(path string, info fs.FileInfo) {
		if info.Mode().IsRegular() {
			stored++
			findCanary(t, forms, path, readFile(t, path))
		}
	})
	if stored == 0 {
		t.Error("nothing is stored")
	}
}

// answer returns the response of a path in a media type. A path that does not have that
// type responds with one of its own.
func (h *server) answer(t *testing.T, path, accept string, want int) string {
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
	if err != nil || response.StatusCode != want {
		t.Errorf("%s as %s answers %d, want %d: %.300s %v", path, accept, response.StatusCode, want, body, err)
	}
	return string(body)
}

// checkRaw checks the files of the chart, which are in base64.
func (a *canaryAudit) checkRaw(t *testing.T) {
	t.Helper()
	var raw struct {
		Chart struct {
			Templates []struct {
				Name string
				Data []byte
			}
		}
	}
	own := a.release(a.namespace, "web")
	if err := json.Unmarshal([]byte(a.auditor.answer(t, own+"/revisions/1/raw", "application/json", http.StatusOK)), &raw); err != nil {
		t.Fatal(err)
	}
	for _, file := range raw.Chart.Templates {
		if strings.Contains(string(file.Data), a.canary) {
			t.Errorf("%s holds the canary", file.Name)
		}
	}
	manifest := a.auditor.answer(t, own+"/revisions/1/manifest", "text/plain", http.StatusOK)
	if strings.Count(manifest, "«masked:") < 3 || !strings.Contains(manifest, "stringData: {b: '«masked:") {
		t.Errorf("the masked manifest is\n%s", manifest)
	}
}

// checkReveals requests secrets as callers with and without permission.
func (a *canaryAudit) checkReveals(t *testing.T, paths []string) {
	t.Helper()
	own := a.release(a.namespace, "web")
	query := "?ns=" + a.namespace
	console := []string{"/api/helm/releases" + query, "/api/helm/release" + query + "&name=web", "/api/helm/release/history" + query + "&name=web"}
	revealing := []string{}
	for _, path := range paths {
		if strings.Contains(path, "/revisions/") || strings.Contains(path, "/diff") {
			revealing = append(revealing, with(path, "reveal=true"))
		}
	}
	for _, path := range slices.Concat(console, revealing) {
		for name, caller := range map[string]*server{"the auditor": a.auditor, "nobody": a.nobody} {
			code, answer := caller.ask(t, http.MethodGet, path, "")
			if code != http.StatusForbidden || strings.Contains(answer, a.canary) {
				t.Errorf("%s reveals to %s: %d %.200s", path, name, code, answer)
			}
		}
	}
	reveals := func(user string) (list []audit.Entry) {
		t.Helper()
		var trail trailPage
		a.get(t, "/"+a.cluster+"/trail?limit=5000&namespace="+a.namespace+"&user="+url.QueryEscape(user), &trail)
		for _, e := range trail.Items {
			if e.Kind == audit.KindReveal {
				list = append(list, e)
			}
		}
		return list
	}
	for _, user := range []string{"auditor", "nobody"} {
		if list := reveals("system:serviceaccount:" + a.namespace + ":" + user); len(list) > 0 {
			t.Errorf("the trail has %s revealing %+v", user, list)
		}
	}
	for i, path := range slices.Concat(console, revealing) {
		before := len(reveals(a.revealerName))
		code, answer := a.revealer.ask(t, http.MethodGet, path, "")
		if code != http.StatusOK {
			t.Errorf("%s with permission: %d %.200s", path, code, answer)
		}
		after := reveals(a.revealerName)
		want := 1
		switch {
		case strings.HasPrefix(answer, `{"from":null`):
			want = 0 // nothing to compare, so nothing to show
		case strings.Contains(path, "/diff"):
			want = 2 // one for each side
		}
		if len(after)-before != want {
			t.Errorf("%s added %d reveals to the trail, want %d", path, len(after)-before, want)
		}
		if (i < len(console) || strings.Contains(path, "/values")) && !strings.Contains(answer, a.canary) {
			t.Errorf("%s does not reveal: %.300s", path, answer)
		}
	}
	// The masked answer stays masked after somebody has revealed the same part.
	findCanary(t, canaryForms(a.canary), "the answer afterwards", a.revealer.answer(t, own+"/revisions/1/values", "application/json", http.StatusOK))
}

package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// spelled prints a password with an x between its letters, in which masking does
// not recognise it.
const spelled = `apiVersion: v1
kind: ConfigMap
metadata: {name: spelled}
data: {letters: {{ .Values.db.password | splitList "" | join "x" | quote }}}
`

// A caller without the right to read Secrets must not get a secret by sending
// its token back as a value, whatever the operation; with the right, the trail
// records it.
func TestTokensAreRestoredOnlyForThoseWhoMayReadSecrets(t *testing.T) {
	eachHelm(t, testTokens)
}

// serveWriter serves a chart to two callers: an operator, and a writer, who may
// create Secrets but not read them.
func serveWriter(t *testing.T, helm, namespace, chart, template string) (h *server, operator, operatorToken, writer, writerToken string) {
	t.Helper()
	operator, operatorToken = account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	writer, writerToken = account(t, namespace, "writer")
	bind(t, namespace, writer, exampleRole(t, "reader"))
	bind(t, namespace, writer, roleFor(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create", "update"}}))

	folder := t.TempDir()
	clustertest.ChartOf(t, folder, chart, template)
	h = serveOn(t, arguments{helm: helm, charts: folder, more: []string{"--auth", "kubernetes"}})
	return h, operator, operatorToken, writer, writerToken
}

func testTokens(t *testing.T, helm string) {
	const password, letters = "hunter2hunter2", "hxuxnxtxexrx2xhxuxnxtxexrx2"
	namespace := clustertest.Namespace(t)
	h, operator, operatorToken, writer, writerToken := serveWriter(t, helm, namespace, "spelled", spelled)
	owner, attacker := h.holding(operatorToken), h.holding(writerToken)
	releases, web := h.releases(namespace), h.release(namespace, "web")
	chart := object{"ref": "spelled"}
	install := owner.submit(t, http.MethodPost, releases, object{"name": "web", "chart": chart, "values": object{"db": object{"password": password}}})
	if kind, last := end(t, owner.events(t.Context(), t, install.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the install ended %s: %s", kind, last.Message)
	}
	var shown struct{ DB struct{ Password string } }
	attacker.get(t, web+"/revisions/1/values", &shown)
	if !strings.HasPrefix(shown.DB.Password, "«masked:") {
		t.Fatalf("the password is shown as %q", shown.DB.Password)
	}
	reveals := func(user string) (list []audit.Entry) {
		t.Helper()
		var page trailPage
		owner.get(t, "/"+h.cluster+"/trail?namespace="+namespace+"&user="+url.QueryEscape(user), &page)
		return slices.DeleteFunc(page.Items, func(e audit.Entry) bool { return e.Kind != audit.KindReveal })
	}

	values := object{"db": object{"password": shown.DB.Password}}
	dryRun := object{"dryRun": "client"}
	console := object{"name": "web", "namespace": namespace, "chart_url": "spelled", "values": values}
	for _, attempt := range []struct {
		name, method, path string
		body               object
	}{
		{"an install as a dry run", http.MethodPost, releases, object{"name": "web", "chart": chart, "values": values, "options": dryRun}},
		{"an install as a dry run on the server", http.MethodPost, releases, object{"name": "web", "chart": chart, "values": values, "options": object{"dryRun": "server"}}},
		{"an install", http.MethodPost, releases, object{"name": "web", "chart": chart, "values": values}},
		{"an upgrade as a dry run", http.MethodPut, web, object{"chart": chart, "values": values, "options": dryRun}},
		{"an upgrade in YAML", http.MethodPut, web, object{"chart": chart, "valuesYAML": "db:\n  password: " + shown.DB.Password + "\n"}},
		{"an upgrade with escapes", http.MethodPut, web, object{"chart": chart, "valuesYAML": `{"db": {"password": "\u00ab` + strings.TrimPrefix(shown.DB.Password, "«") + `"}}`, "options": dryRun}},
		{"a token at another place", http.MethodPut, web, object{"chart": chart, "values": object{"letters": shown.DB.Password}}},
		{"the console's install", http.MethodPost, "/api/helm/release", console},
		{"the console's install in the background", http.MethodPost, "/api/helm/release/async", console},
		{"the console's upgrade", http.MethodPut, "/api/helm/release", console},
		{"the console's upgrade in the background", http.MethodPut, "/api/helm/release/async", console},
	} {
		var answer struct {
			accepted
			Code, Message string
			Details       struct{ User, Verb, Resource, Namespace, Field string }
		}
		code := attacker.call(t, attempt.method, attempt.path, attempt.body, &answer)
		if code == http.StatusAccepted {
			attacker.events(t.Context(), t, answer.Events, 1)
			_, rendered := attacker.ask(t, http.MethodGet, web+"/sessions/"+answer.SessionID+"/rendered", "")
			t.Errorf("%s was accepted; the rendering has the password: %v", attempt.name, strings.Contains(rendered, letters))
			continue
		}
		for _, want := range []string{"get secrets in namespace " + namespace, "masked", "leave"} {
			if code != http.StatusForbidden || !strings.Contains(answer.Message, want) {
				t.Errorf("%s is answered with %d %q, want 403 with %q", attempt.name, code, answer.Message, want)
			}
		}
		if d := answer.Details; answer.Code != "" && (d.User != writer || d.Verb != "get" || d.Resource != "secrets" || d.Namespace != namespace || d.Field != "values") {
			t.Errorf("%s: details %+v", attempt.name, d)
		}
	}
	if list := reveals(writer); len(list) > 0 {
		t.Errorf("the trail has reveals to a caller who was refused: %+v", list)
	}

	before := len(reveals(operator))
	preview := owner.submit(t, http.MethodPut, web, object{"chart": chart, "values": values, "options": dryRun})
	if kind, last := end(t, owner.events(t.Context(), t, preview.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the operator's preview ended %s: %s", kind, last.Message)
	}
	if _, rendered := owner.ask(t, http.MethodGet, web+"/sessions/"+preview.SessionID+"/rendered", ""); !strings.Contains(rendered, letters) {
		t.Errorf("the operator's preview does not have the value: %s", rendered)
	}
	list := reveals(operator)
	if len(list) != before+1 {
		t.Fatalf("the trail has %d reveals more, want 1", len(list)-before)
	}
	if e := list[before]; e.Release != "web" || e.Revision != 1 || e.What != "restored values" {
		t.Errorf("the trail has %+v", e)
	}
}

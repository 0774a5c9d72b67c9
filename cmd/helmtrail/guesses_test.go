package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// guessing prints its values.
const guessing = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Values.name }}}
data: {{ .Values.data | toYaml | nindent 2 }}
`

// masks finds the masks in a text.
var masks = regexp.MustCompile("«masked:[0-9a-f]+»")

// A caller without the right to read Secrets must not learn from a dry run
// whether a guess of the release's secret is right.
func TestMasksOfADryRunDoNotConfirmGuesses(t *testing.T) {
	eachHelm(t, testGuesses)
}

func testGuesses(t *testing.T, helm string) {
	const right, wrong = "correct horse battery", "correct horse stapler"
	namespace := clustertest.Namespace(t)
	h, _, operatorToken, writer, writerToken := serveWriter(t, helm, namespace, "guessing", guessing)
	// Helm 3 looks whether the chart's objects exist.
	bind(t, namespace, writer, roleFor(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}))
	owner, attacker := h.holding(operatorToken), h.holding(writerToken)
	releases, web := h.releases(namespace), h.release(namespace, "web")
	chart := object{"ref": "guessing"}
	known := object{"name": "known", "data": object{"password": right}}
	install := owner.submit(t, http.MethodPost, releases, object{"name": "web", "chart": chart, "values": known})
	if kind, last := end(t, owner.events(t.Context(), t, install.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the install ended %s: %s", kind, last.Message)
	}
	_, record := attacker.ask(t, http.MethodGet, web+"/revisions/1/manifest", "")
	tokens := masks.FindAllString(record, -1)
	if len(tokens) != 1 || strings.Contains(record, right) {
		t.Fatalf("the manifest of the record is %s", record)
	}
	// The release's name is used again, since masks differ between releases.
	render := func(caller *server, values object) string {
		t.Helper()
		var all strings.Builder
		answer := caller.submit(t, http.MethodPost, releases, object{"name": "web", "chart": chart, "values": values, "options": object{"dryRun": "client"}})
		events := caller.events(t.Context(), t, answer.Events, 1)
		if kind, last := end(t, events); kind != helmtrail.TypeCompleted {
			t.Fatalf("the dry run ended %s: %s", kind, last.Message)
		}
		for _, e := range events {
			if line, ok := e.Body.(*helmtrail.LogLine); ok {
				all.WriteString(line.Line + "\n")
			}
		}
		session := web + "/sessions/" + answer.SessionID
		for _, path := range []string{session + "/rendered", session + "/validation"} {
			status, text := caller.ask(t, http.MethodGet, path, "")
			if status != http.StatusOK {
				t.Errorf("GET %s: %d %s", path, status, text)
			}
			all.WriteString(text)
		}
		return all.String()
	}

	guesses := object{"name": "known", "data": object{"password": right, "otherPassword": wrong}}
	guessed := render(attacker, guesses)
	if strings.Contains(guessed, right) || strings.Contains(guessed, wrong) {
		t.Errorf("secrets are not masked:\n%s", guessed)
	}
	if strings.Contains(guessed, tokens[0]) {
		t.Errorf("the mask of the record confirms a guess:\n%s", guessed)
	}
	guessed = render(attacker, object{"name": "guesses", "data": object{"a": right, "b": wrong}})
	if n := strings.Count(guessed, right); n == 0 || n != strings.Count(guessed, wrong) {
		t.Errorf("the right guess is shown in another way than the wrong one:\n%s", guessed)
	}
	if seen := render(owner, guesses); !strings.Contains(seen, tokens[0]) {
		t.Errorf("the operator's dry run does not have the mask of the record:\n%s", seen)
	}
}

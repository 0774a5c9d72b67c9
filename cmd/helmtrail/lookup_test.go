package main

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// looking prints a Secret of a namespace that its values name.
const looking = `apiVersion: v1
kind: ConfigMap
metadata: {name: looking}
data: {found: {{ lookup "v1" "Secret" .Values.namespace "login" | toJson | b64enc | quote }}}
`

// Templates can look up objects of the cluster. They see what the caller may see, not
// what helmtrail may.
func TestTemplatesLookUpWhatTheCallerMaySee(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		namespace, other := clustertest.Namespace(t), clustertest.Namespace(t)
		for _, in := range []string{namespace, other} {
			_, err := clustertest.Core(t).Secrets(in).Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"password": "lookup-canary"},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		folder := t.TempDir()
		clustertest.ChartOf(t, folder, "looking", looking)
		operator, token := account(t, namespace, "operator")
		bind(t, namespace, operator, exampleRole(t, "operator"))
		h := serveOn(t, arguments{helm: helm, charts: folder, more: []string{"--auth", "kubernetes"}}).holding(token)
		for _, options := range []object{{"dryRun": "server"}, {}} {
			look := func(in string) (kind helmtrail.Type, message string) {
				answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
					"name": "look", "chart": object{"ref": "looking"}, "values": object{"namespace": in}, "options": options,
				})
				kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
				return kind, last.Message
			}
			if kind, message := look(other); kind != helmtrail.TypeFailed || !strings.Contains(message, "forbidden") {
				t.Errorf("%v: a look at another namespace ended %s: %s", options, kind, message)
			}
			if kind, message := look(namespace); kind != helmtrail.TypeCompleted {
				t.Errorf("%v: a look at the own namespace ended %s: %s", options, kind, message)
			}
		}
	})
}

// Whether something exists is not told to callers who may not see it.
func TestRefusalsDoNotTellWhatExists(t *testing.T) {
	namespace := clustertest.Namespace(t)
	operator, token := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	_, nobody := account(t, namespace, "nobody")
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})
	owner := h.holding(token)
	install := owner.submit(t, http.MethodPost, h.releases(namespace), object{"name": "there", "chart": object{"ref": "web"}})
	end(t, owner.events(t.Context(), t, install.Events, 1))
	const absent = "00000000-0000-4000-8000-000000000000"
	for _, caller := range []string{"", "nonsense", nobody} {
		for _, path := range []string{"", "/history", "/revisions/1/values", "/sessions", "/sessions/" + install.SessionID, "/sessions/" + install.SessionID + "/rendered", "/events?sessionId=" + install.SessionID, "/trail", "/drift", "/resources"} {
			status, answer := h.holding(caller).ask(t, http.MethodGet, h.release(namespace, "there")+path, "")
			missing := strings.ReplaceAll(path, install.SessionID, absent)
			statusOfMissing, answerToMissing := h.holding(caller).ask(t, http.MethodGet, h.release(namespace, "gone")+missing, "")
			if status != statusOfMissing || answer != answerToMissing || status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%q: %d %s, but for one that does not exist %d %s", path, status, answer, statusOfMissing, answerToMissing)
			}
		}
	}
}

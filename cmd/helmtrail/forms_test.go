package main

import (
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// changing prints forms of a password in a ConfigMap, in its notes or in an error.
const changing = `{{- $forms := list (upper .Values.db.password) (b32enc .Values.db.password) (printf "%x" .Values.db.password) (trunc 10 .Values.db.password) (.Values.db.password | splitList "" | join ".") (printf "%s\n%s" (trunc 8 .Values.db.password) (trunc -8 .Values.db.password)) }}
{{- if .Values.broken }}{{ fail (join " " $forms) }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: changing}
data: {forms: {{ join " " $forms | quote }}}
`

// A chart can print a secret in another form than it was given, in the log, in the
// reason of a failure, and in objects.
func TestNoFormOfASecretIsShown(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		const password = "Xk7vQ2mZ9pLr4TwB"
		folder, namespace := t.TempDir(), clustertest.Namespace(t)
		clustertest.ChartOf(t, folder, "changing", changing)
		h := serveOn(t, arguments{helm: helm, charts: folder})
		check := func(name string, broken bool, want helmtrail.Type) {
			t.Helper()
			answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
				"name": name, "chart": object{"ref": "changing"}, "values": object{"db": object{"password": password}, "broken": broken},
			})
			events := h.events(t.Context(), t, answer.Events, 1)
			kind, last := end(t, events)
			if kind != want {
				t.Fatalf("%s ended %s: %s", name, kind, last.Message)
			}
			data, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			shown := string(data)
			if broken && !strings.Contains(last.Message, "«masked:") {
				t.Errorf("the failure's message is %q, want it with masks", last.Message)
			}
			if !broken {
				_, manifest := h.ask(t, http.MethodGet, h.release(namespace, name)+"/revisions/1/manifest", "")
				if !strings.Contains(manifest, "«masked:") {
					t.Errorf("the manifest is %s, want it with masks", manifest)
				}
				shown += manifest
			}
			letters := strings.ToLower(strings.NewReplacer(".", "", "\\n", "", "\n", "", " ", "").Replace(shown))
			for form, text := range map[string]string{
				"half of the password": password[:8], "the other half": password[8:],
				"hex": hex.EncodeToString([]byte(password))[:16], "base32": base32.StdEncoding.EncodeToString([]byte(password))[:14],
			} {
				if strings.Contains(letters, strings.ToLower(text)) {
					t.Errorf("%s: %s is shown in:\n%s", name, form, shown)
				}
			}
		}
		check("works", false, helmtrail.TypeCompleted)
		check("fails", true, helmtrail.TypeFailed)
	})
}

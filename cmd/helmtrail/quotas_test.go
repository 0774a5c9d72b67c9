package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// Installs that hang use up their own tenant's quota and no more, and even the
// tenant can still cancel and uninstall.
func TestOneTenantDoesNotBlockTheOthers(t *testing.T) {
	t.Parallel()
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", version), func(t *testing.T) {
			t.Parallel()
			h := serveOn(t, arguments{
				helm: clustertest.Binary(t, fmt.Sprintf("helm%d", version)), more: []string{"--auth", "kubernetes", "--max-operations", "4"},
			})
			role := exampleRole(t, "operator")
			tenant := func(name string) (*server, string) {
				namespace := clustertest.Namespace(t)
				user, _ := account(t, namespace, name)
				bind(t, namespace, user, role)
				// The token outlives what the largest deadline refuses.
				return h.holding(tokenFor(t, namespace, name, 8*time.Hour)), namespace
			}
			hog, hogs := tenant("hog")
			other, others := tenant("other")
			install := func(name string) object { return object{"name": name, "chart": object{"ref": "web"}} }
			hanging := func(name string, seconds int) object {
				o := install(name)
				o["values"], o["options"] = never, object{"wait": true, "timeoutSeconds": seconds}
				return o
			}
			refused := func(caller *server, method, path string, body object) (message string, details map[string]any) {
				t.Helper()
				var answer struct {
					Code, Message string
					Details       map[string]any
				}
				if code := caller.call(t, method, path, body, &answer); code != http.StatusTooManyRequests || answer.Code != "too_many_operations" {
					t.Errorf("%s %s is answered with %d %+v, want 429 too_many_operations", method, path, code, answer)
				}
				return answer.Message, answer.Details
			}
			run := func(caller *server, method, path string, body any) {
				t.Helper()
				answer := caller.submit(t, method, path, body)
				if kind, last := end(t, caller.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
					t.Errorf("%s %s ended %s: %s", method, path, kind, last.Message)
				}
			}

			run(hog, http.MethodPost, hog.releases(hogs), install("quick"))
			var invalid struct {
				Code    string
				Details struct{ Field string }
			}
			if code := hog.call(t, http.MethodPost, hog.releases(hogs), hanging("hangs", 20000), &invalid); code != http.StatusBadRequest || invalid.Details.Field != "options.timeoutSeconds" {
				t.Errorf("a timeout of 20000 s is answered with %d %+v", code, invalid)
			}
			hung := hog.submit(t, http.MethodPost, hog.releases(hogs), hanging("hangs", 3000))
			message, details := refused(hog, http.MethodPost, hog.releases(hogs), hanging("again", 3000))
			if !strings.Contains(message, "quota of the namespace allows 1") || details["quota"] != "namespace" || details["limit"] != 1.0 {
				t.Errorf("the refusal is %q, details %v", message, details)
			}
			// The hog itself can still get rid of things, and others notice nothing.
			run(hog, http.MethodDelete, hog.release(hogs, "quick"), nil)
			run(other, http.MethodPost, other.releases(others), install("web"))
			run(other, http.MethodPut, other.release(others, "web"), object{"chart": object{"ref": "web"}})
			run(other, http.MethodPost, other.release(others, "web")+"/rollback", object{"revision": 1})
			run(other, http.MethodDelete, other.release(others, "web"), nil)
			if code, body := hog.ask(t, http.MethodPost, hog.release(hogs, "hangs")+"/sessions/"+hung.SessionID+"/cancel", `{}`); code != http.StatusAccepted {
				t.Errorf("cancel: %d %s", code, body)
			}
			if kind, _ := end(t, hog.events(t.Context(), t, hung.Events, 1)); kind != helmtrail.TypeCanceled {
				t.Errorf("the hanging install ended %s", kind)
			}
		})
	}
}

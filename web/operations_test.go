package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

func TestAcceptedNamesTheSessionAndItsEvents(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		method, path, body string
		want               helmtrail.Request
	}{
		{
			http.MethodPost, shopURL, `{"name":"web","chart":{"ref":"web","version":"1.2"},"values":{"a":1},"options":{"wait":true}}`,
			helmtrail.Request{
				Operation: helmtrail.OperationInstall, Chart: helmtrail.Chart{Ref: "web", Version: "1.2"},
				Values: []byte(`{"a":1}`), Options: helmtrail.Options{Wait: helmtrail.ChoiceTrue},
			},
		},
		{
			http.MethodPut, shopURL + "/web", `{"chart":{"ref":"web"},"valuesYAML":"a: 1"}`,
			helmtrail.Request{Operation: helmtrail.OperationUpgrade, Chart: helmtrail.Chart{Ref: "web"}, Values: []byte("a: 1")},
		},
		{
			http.MethodPost, shopURL + "/web/rollback", `{"revision":3,"options":{"noHooks":true}}`,
			helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 3, Options: helmtrail.Options{NoHooks: true}},
		},
		{http.MethodDelete, shopURL + "/web", "", helmtrail.Request{Operation: helmtrail.OperationUninstall}},
	} {
		t.Run(string(c.want.Operation), func(t *testing.T) {
			r := f.do(c.method, c.path, c.body)
			var got map[string]any
			r.decode(http.StatusAccepted, &got)
			id := got["sessionId"].(string)
			want := map[string]any{
				"sessionId": id,
				"release":   map[string]any{"cluster": "dev", "namespace": "shop", "name": "web"},
				"events":    shopURL + "/web/events?sessionId=" + id,
				"page":      "/helm/events/dev/shop/web?sessionId=" + id,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			var session helmtrail.Session
			f.do(http.MethodGet, r.header.Get("Location"), "").decode(http.StatusOK, &session)
			if session.ID != id || session.Operation != c.want.Operation || session.State != helmtrail.StateRunning {
				t.Errorf("Location is the session %+v", session)
			}
			p := f.helm.process(id)
			c.want.Release = helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}
			if diff := cmp.Diff(c.want, p.Request()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}

			_, details := f.do(http.MethodDelete, shopURL+"/web", "").wantError(http.StatusConflict, "operation_in_progress")
			if details["sessionId"] != id {
				t.Errorf("the conflict names session %v, want %s", details["sessionId"], id)
			}
			p.end()
			f.listen(sessionEvents("web", id)).all()
			f.waitUntilIdle(p.ref.Release)
		})
	}

	var whole, page struct {
		Items    []helmtrail.Session
		Continue string
	}
	f.do(http.MethodGet, shopURL+"/web/sessions", "").decode(http.StatusOK, &whole)
	var operations, paged []helmtrail.Operation
	for _, s := range whole.Items {
		operations = append(operations, s.Operation)
	}
	if diff := cmp.Diff([]helmtrail.Operation{"uninstall", "rollback", "upgrade", "install"}, operations); diff != "" {
		t.Errorf("sessions, newest first (-want +got):\n%s", diff)
	}
	for next := ""; ; next = "&continue=" + page.Continue {
		page.Continue, page.Items = "", nil
		f.do(http.MethodGet, shopURL+"/web/sessions?limit=3"+next, "").decode(http.StatusOK, &page)
		for _, s := range page.Items {
			paged = append(paged, s.Operation)
		}
		if page.Continue == "" {
			break
		}
	}
	if diff := cmp.Diff(operations, paged); diff != "" {
		t.Errorf("pages of sessions (-whole +paged):\n%s", diff)
	}
	if r := f.do(http.MethodGet, shopURL+"/none/sessions", ""); strings.TrimSpace(r.body) != `{"items":[]}` {
		t.Errorf("sessions of no release: %s", r.body)
	}
}

// waitUntilIdle waits until a session that has ended is removed as the running one.
func (f *fixture) waitUntilIdle(ref helmtrail.ReleaseRef) {
	for running := true; running; {
		_, running = f.operations.Running(ref)
	}
}

func TestErrorsAreMapped(t *testing.T) {
	const body = `{"name":"web","chart":{"ref":"web"}}`
	for _, c := range []struct {
		refusal error
		status  int
		code    string
		field   any
	}{
		{&helmtrail.InvalidError{Field: "name", Message: "must not start with a dash"}, http.StatusBadRequest, "bad_request", "name"},
		{&helmtrail.UnsupportedError{Option: "wait", Reason: "helm rollback has no such option"}, http.StatusBadRequest, "unsupported_option", "wait"},
		{helmtrail.ErrNoHelm, http.StatusServiceUnavailable, "unavailable", nil},
		{fmt.Errorf("start: %w", helmtrail.ErrStopping), http.StatusServiceUnavailable, "unavailable", nil},
		{helmtrail.ErrTooManyOperations, http.StatusTooManyRequests, "too_many_operations", nil},
		{fmt.Errorf("open /var/lib/secret: permission denied"), http.StatusInternalServerError, "internal", nil},
	} {
		f := newFixture(t)
		f.helm.refuse = c.refusal
		r := f.do(http.MethodPost, shopURL, body)
		_, details := r.wantError(c.status, c.code)
		if details["field"] != c.field {
			t.Errorf("%v: field %v, want %v", c.refusal, details["field"], c.field)
		}
		if c.status == http.StatusInternalServerError && strings.Contains(r.body, "secret") {
			t.Errorf("the client receives an unexpected error's text: %s", r.body)
		}
	}
}

func TestTooManyOperations(t *testing.T) {
	f := newFixture(t, func(_ *web.Options, setup *stream.Setup) { setup.Quotas.Operations = 1 })
	f.install("web")
	r := f.do(http.MethodPost, shopURL, `{"name":"api","chart":{"ref":"web"}}`)
	r.wantError(http.StatusTooManyRequests, "too_many_operations")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestOperationOnAnUnknownClusterIsNotFound(t *testing.T) {
	f := newFixture(t)
	f.do(http.MethodDelete, "/other/namespaces/shop/releases/web", "").wantError(http.StatusNotFound, "not_found")
}

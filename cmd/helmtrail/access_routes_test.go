package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// hidden is the name of a release that must not appear in an answer to a caller
// without permission.
const hidden = "quartz"

// routeCase is a route and a request by a caller with permission.
type routeCase struct {
	route string // as in openapi.yaml
	path  string // "" if route has no parameters
	body  string
	// any means that every signed-in user may use the route.
	any bool
	// filtered means that other callers get an answer without what they may not see.
	filtered bool
	want     int
}

// accessCases has all routes except those for everybody. They can be called in this
// order.
func accessCases(namespace, session, ended string) []routeCase {
	release := "/{cluster}/namespaces/" + namespace + "/releases"
	one := release + "/" + hidden
	const described = "/{cluster}/namespaces/{namespace}/releases"
	const describedOne = described + "/{name}"
	console := func(method, path, query, body string, want int) routeCase {
		return routeCase{route: method + " /api/helm" + path, path: "/api/helm" + path + query, body: body, want: want}
	}
	in := `"namespace":"` + namespace + `","name":"` + hidden + `"`
	query := "?ns=" + namespace + "&name=" + hidden
	// The console's synchronous requests wait for the release's running session.
	absent := `"namespace":"` + namespace + `","name":"absent"`
	return []routeCase{
		{route: "GET /clusters", any: true, want: 200},
		{route: "GET /charts", any: true, want: 200},
		{route: "GET /charts/{ref}", path: "/charts/web", any: true, want: 200},
		{route: "POST /charts", path: "/charts?namespace=" + namespace, body: "no archive", want: 400},
		{route: "GET /metrics", want: 200},
		{route: "GET /{cluster}/releases", filtered: true, want: 200},
		{route: "GET /{cluster}/releases/events", filtered: true, want: 200},
		{route: "GET /{cluster}/trail", filtered: true, want: 200},
		{route: "GET " + described, path: release, want: 200},
		{route: "GET " + describedOne, path: one, want: 200},
		{route: "GET " + describedOne + "/events", path: one + "/events?sessionId=" + session, want: 200},
		{route: "GET " + describedOne + "/events", path: one + "/events?sessionId=" + ended, want: 200},
		{route: "GET " + describedOne + "/resources", path: one + "/resources", want: 200},
		{route: "GET " + describedOne + "/history", path: one + "/history", want: 200},
		{route: "GET " + describedOne + "/revisions/{revision}/{part}", path: one + "/revisions/1/values", want: 200},
		{route: "GET " + describedOne + "/revisions/{revision}/{part}", path: one + "/revisions/1/values?reveal=true", want: 200},
		{route: "GET " + describedOne + "/diff", path: one + "/diff?from=1&to=1", want: 200},
		{route: "GET " + describedOne + "/drift", path: one + "/drift", want: 200},
		{route: "GET " + describedOne + "/trail", path: one + "/trail", want: 200},
		{route: "GET " + describedOne + "/sessions", path: one + "/sessions", want: 200},
		{route: "GET " + describedOne + "/sessions/{session}", path: one + "/sessions/" + ended, want: 200},
		{route: "GET " + describedOne + "/sessions/{session}/rendered", path: one + "/sessions/" + ended + "/rendered", want: 404},
		{route: "GET " + describedOne + "/sessions/{session}/validation", path: one + "/sessions/" + ended + "/validation", want: 404},
		{route: "POST " + describedOne + "/sessions/{session}/cancel", path: one + "/sessions/" + ended + "/cancel", want: 409},
		{route: "POST " + described, path: release, body: `{"name":"` + hidden + `","chart":{"ref":"web"}}`, want: 409},
		{route: "PUT " + describedOne, path: one, body: `{"chart":{"ref":"web"}}`, want: 409},
		{route: "DELETE " + describedOne, path: one, want: 409},
		{route: "POST " + describedOne + "/rollback", path: one + "/rollback", body: `{"revision":1}`, want: 409},
		{route: "POST " + describedOne + "/recover", path: one + "/recover", body: `{"strategy":"uninstall"}`, want: 409},
		{route: "GET /api/helm/chart", path: "/api/helm/chart?noRepo=true&url=https://127.0.0.1:1/none-1.0.0.tgz&namespace=" + namespace, want: 400},
		// These routes only read the charts of configured repositories.
		{route: "GET /api/helm/charts/index.yaml", any: true, want: 200},
		{route: "POST /api/helm/verify", body: "{}", any: true, want: 501},
		console("GET", "/releases", "?ns="+namespace, "", 200),
		console("GET", "/release", query, "", 200),
		console("GET", "/release/history", query, "", 200),
		console("POST", "/release", "", `{`+in+`,"chart_url":"https://127.0.0.1:1/none-1.0.0.tgz"}`, 0),
		console("PUT", "/release", "", `{`+in+`,"chart_url":"https://127.0.0.1:1/none-1.0.0.tgz"}`, 0),
		console("PATCH", "/release", "", `{`+absent+`,"version":1}`, 0),
		console("DELETE", "/release", query, "", 0),
		console("POST", "/release/async", "", `{`+in+`,"chart_url":"https://127.0.0.1:1/none-1.0.0.tgz"}`, 0),
		console("PUT", "/release/async", "", `{`+in+`,"chart_url":"https://127.0.0.1:1/none-1.0.0.tgz"}`, 0),
		console("PATCH", "/release/async", "", `{`+absent+`,"version":1}`, 0),
		console("DELETE", "/release/async", query+"&version=1", "", 0),
		console("POST", "/template", "", `{`+in+`,"chart_url":"https://127.0.0.1:1/none-1.0.0.tgz"}`, 0),
	}
}

// openRoutes reveal nothing about a cluster, or check permissions themselves.
var openRoutes = []string{
	"POST /login", "POST /logout", "GET /me", "GET /healthz", "GET /readyz", "GET /openapi.yaml", "GET /", "GET /helm", "GET /helm/{path}",
}

func TestEveryRouteNeedsItsPermission(t *testing.T) {
	t.Parallel()
	namespace, elsewhere := clustertest.Namespace(t), clustertest.Namespace(t)
	operator := exampleRole(t, "operator")
	right, rightToken := account(t, namespace, "operator")
	bind(t, namespace, right, operator)
	letScrape(t, namespace, "operator")
	other, otherToken := account(t, elsewhere, "operator")
	bind(t, elsewhere, other, operator)
	_, nobodyToken := account(t, elsewhere, "nobody")

	// helmtrail's own account has only the permissions in deploy/rbac/server.yaml.
	ownToken, _, _ := serverAccount(t)
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: kubeconfigFor(t, ownToken), more: []string{"--auth", "kubernetes"}})
	owner := h.holding(rightToken)
	first := owner.submit(t, http.MethodPost, owner.releases(namespace), object{"name": hidden, "chart": object{"ref": "web"}})
	events := owner.events(t.Context(), t, first.Events, 1)
	if kind, last := end(t, events); kind != helmtrail.TypeCompleted {
		t.Fatalf("the operator's install ended %s: %s", kind, last.Message)
	}
	if started := events[0].Body.(*helmtrail.Started); started.User != right {
		t.Errorf("the session's user is %q, want %q", started.User, right)
	}
	neighbour := h.holding(otherToken)
	second := neighbour.submit(t, http.MethodPost, neighbour.releases(elsewhere), object{"name": "visible", "chart": object{"ref": "web"}})
	if kind, last := end(t, neighbour.events(t.Context(), t, second.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the neighbour's install ended %s: %s", kind, last.Message)
	}
	running := owner.submit(t, http.MethodPut, owner.release(namespace, hidden), object{
		"chart": object{"ref": "web"}, "values": never, "options": object{"wait": true, "timeoutSeconds": 600},
	})

	eventually(t, "the upgrade has started", func() bool {
		var i item
		owner.get(t, owner.release(namespace, hidden), &i)
		return i.Status == "pending-upgrade"
	})

	cases := accessCases(namespace, running.SessionID, first.SessionID)
	checkComplete(t, cases)
	callers := []struct {
		name, token string
		status      int
		user        bool
		filtered    int
	}{
		{"no token", "", 401, false, 401},
		{"a bad token", "nonsense", 401, false, 401},
		{"no rights", nobodyToken, 403, true, 403},
		{"rights in another namespace", otherToken, 403, true, 200},
	}
	for _, c := range cases {
		method, path, _ := strings.Cut(c.route, " ")
		if c.path != "" {
			path = c.path
		}
		path = strings.ReplaceAll(path, "{cluster}", h.cluster)
		for _, caller := range callers {
			want := caller.status
			switch {
			case c.any && caller.user:
				want = c.want
			case c.filtered:
				want = caller.filtered
			}
			got, answer := h.holding(caller.token).ask(t, method, path, c.body)
			if got != want {
				t.Errorf("%s with %s: %d, want %d: %.200s", c.route, caller.name, got, want, answer)
			}
			if strings.Contains(answer, hidden) {
				t.Errorf("%s with %s reveals the release: %.200s", c.route, caller.name, answer)
			}
		}
		got, answer := owner.ask(t, method, path, c.body)
		if c.want == 0 && (got == http.StatusUnauthorized || got == http.StatusForbidden) || c.want != 0 && got != c.want {
			t.Errorf("%s with permission: %d, want %d: %.300s", c.route, got, c.want, answer)
		}
		if read := method == http.MethodGet && c.want == http.StatusOK; read && !strings.HasSuffix(c.route, "/events") && c.route != "GET /metrics" {
			owner.unchanged(t, path)
		}
		if method == http.MethodGet {
			owner.isPrivate(t, path)
		}
	}
	// The rejected requests changed nothing: the upgrade is still running.
	if id := owner.session(t, namespace, hidden); id == nil || *id != running.SessionID {
		t.Errorf("the running session is %v, want %s", id, running.SessionID)
	}
	// A session id gives no access under another release's path.
	for _, path := range []string{"/sessions/" + first.SessionID, "/events?sessionId=" + running.SessionID} {
		if got, answer := neighbour.ask(t, http.MethodGet, neighbour.release(elsewhere, "visible")+path, ""); got != http.StatusNotFound {
			t.Errorf("%s of another release: %d %.200s", path, got, answer)
		}
	}
	neighbour.seesItsOwnAlone(t, elsewhere, func() {
		if got, _ := owner.ask(t, http.MethodPost, owner.release(namespace, hidden)+"/sessions/"+running.SessionID+"/cancel", ""); got != http.StatusAccepted {
			t.Errorf("the owner's cancel: %d", got)
		}
		end(t, owner.events(t.Context(), t, running.Events, 1))
	})
}

// seesItsOwnAlone follows all transitions while others act on a release that is hidden
// from the caller. The caller then upgrades a release of their own.
func (h *server) seesItsOwnAlone(t *testing.T, namespace string, others func()) {
	t.Helper()
	opened := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() {
		once, own := sync.OnceFunc(func() { close(opened) }), false
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := h.frames(ctx, "/"+h.cluster+"/releases/events", func(f frame) bool {
			once()
			if strings.Contains(f.data, hidden) {
				t.Errorf("the stream reveals the release: %s", f.data)
			}
			own = strings.Contains(f.data, `"visible"`) && strings.Contains(f.data, `"revision":2,`) && strings.Contains(f.data, `"status":"deployed"`)
			return !own
		})
		if err != nil || !own {
			t.Errorf("the stream does not have the caller's own release: %v", err)
		}
	})
	<-opened
	others()
	upgrade := h.submit(t, http.MethodPut, h.release(namespace, "visible"), object{"chart": object{"ref": "web"}, "values": object{"replicas": 2}})
	end(t, h.events(t.Context(), t, upgrade.Events, 1))
	following.Wait()
}

// unchanged checks that a read has an ETag, and that it is answered with 304
// while nothing changes. Other tests change the cluster, and so its trail's head.
func (h *server) unchanged(t *testing.T, path string) {
	t.Helper()
	eventually(t, "304 for GET "+path, func() bool {
		tag := h.poll(t, path, "").tag
		if tag == "" {
			t.Fatalf("GET %s has no ETag", path)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("If-None-Match", tag)
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode == http.StatusNotModified
	})
}

// isPrivate checks that no cache gives the answer to a GET to somebody else.
func (h *server) isPrivate(t *testing.T, path string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	cached, varies := response.Header.Get("Cache-Control"), strings.Join(response.Header.Values("Vary"), ", ")
	if !strings.Contains(cached, "private") && !strings.Contains(cached, "no-store") || !strings.Contains(varies, "Cookie") || !strings.Contains(varies, "Authorization") {
		t.Errorf("GET %s: Cache-Control %q, Vary %q", path, cached, varies)
	}
}

// letScrape allows an account to read metrics until the test ends.
func letScrape(t *testing.T, namespace, account string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "metrics-" + namespace}
	roles, bindings := rbac(t).ClusterRoles(), rbac(t).ClusterRoleBindings()
	_, err := roles.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(bindings.Delete(ctx, meta.Name, metav1.DeleteOptions{}), roles.Delete(ctx, meta.Name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
}

// checkComplete fails if openapi.yaml has a route without a case.
func checkComplete(t *testing.T, cases []routeCase) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	tested := slices.Clone(openRoutes)
	for _, c := range cases {
		tested = append(tested, c.route)
	}
	slices.Sort(described)
	slices.Sort(tested)
	if diff := cmp.Diff(described, slices.Compact(tested)); diff != "" {
		t.Errorf("routes (-described +tested):\n%s", diff)
	}
}

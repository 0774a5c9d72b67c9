package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacv1client "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/informer/access"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// rbac is a client for roles and bindings.
func rbac(t *testing.T) rbacv1client.RbacV1Interface {
	t.Helper()
	client, err := rbacv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// exampleRole puts a role of deploy/rbac into the cluster and returns its name.
func exampleRole(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	roles := rbac(t).ClusterRoles()
	if _, err = roles.Create(t.Context(), &role, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		_, err = roles.Update(t.Context(), &role, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return role.Name
}

// account makes a ServiceAccount and returns its name and a token of it.
func account(t *testing.T, namespace, name string) (user, token string) {
	t.Helper()
	accounts := clustertest.Core(t).ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return "system:serviceaccount:" + namespace + ":" + name, tokenFor(t, namespace, name, time.Hour)
}

func tokenFor(t *testing.T, namespace, name string, life time.Duration) string {
	t.Helper()
	seconds := int64(life.Seconds())
	request, err := clustertest.Core(t).ServiceAccounts(namespace).CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// bind gives an account a role in a namespace and returns what takes it away.
func bind(t *testing.T, namespace, account, role string) (unbind func()) {
	t.Helper()
	owner, name, _ := strings.Cut(strings.TrimPrefix(account, "system:serviceaccount:"), ":")
	bindings := rbac(t).RoleBindings(namespace)
	made, err := bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "helmtrail-"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := bindings.Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// bearer sends a token with each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// holding is the same helmtrail to a caller with a token.
func (h *helmtrail) holding(token string) *helmtrail {
	other := *h
	other.client = &http.Client{
		Transport:     bearer{token, h.client.Transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &other
}

// ask sends a request and returns the status and as much of the answer as
// comes within a moment, since a stream does not end.
func (h *helmtrail) ask(t *testing.T, method, path, body string) (status int, answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") != "text/event-stream" {
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(data)
	}
	first := make([]byte, 4096)
	n, err := io.ReadAtLeast(response.Body, first, 16)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(first[:n])
}

// session is the one that tells what happens to a release now.
func (h *helmtrail) session(t *testing.T, namespace, name string) *string {
	t.Helper()
	var i item
	h.get(t, h.release(namespace, name), &i)
	return i.Session
}

// hidden is the name of a release that whoever has no right must not see in an answer.
const hidden = "quartz"

// routeCase is one route as somebody with the right uses it.
type routeCase struct {
	route string // as in openapi.yaml
	path  string // "" where route holds no parameter
	body  string
	// user is needed beside being signed in; without it any user may.
	any bool
	// filtered means that others get an answer without what they may not see.
	filtered bool
	want     int
}

// accessCases are all routes but those that everybody may use, in an order in
// which they can be called one after the other.
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
		{route: "GET /{cluster}/releases", filtered: true, want: 200},
		{route: "GET /{cluster}/releases/events", filtered: true, want: 200},
		{route: "GET " + described, path: release, want: 200},
		{route: "GET " + describedOne, path: one, want: 200},
		{route: "GET " + describedOne + "/events", path: one + "/events?sessionId=" + session, want: 200},
		{route: "GET " + describedOne + "/events", path: one + "/events?sessionId=" + ended, want: 200},
		{route: "GET " + describedOne + "/resources", path: one + "/resources", want: 200},
		{route: "GET " + describedOne + "/history", path: one + "/history", want: 200},
		{route: "GET " + describedOne + "/revisions/{revision}/{part}", path: one + "/revisions/1/values", want: 200},
		{route: "GET " + describedOne + "/revisions/{revision}/{part}", path: one + "/revisions/1/values?reveal=true", want: 200},
		{route: "GET " + describedOne + "/diff", path: one + "/diff?from=1&to=1", want: 200},
		{route: "GET " + describedOne + "/sessions", path: one + "/sessions", want: 200},
		{route: "GET " + describedOne + "/sessions/{session}", path: one + "/sessions/" + ended, want: 200},
		{route: "GET " + describedOne + "/sessions/{session}/rendered", path: one + "/sessions/" + ended + "/rendered", want: 404},
		{route: "POST " + describedOne + "/sessions/{session}/cancel", path: one + "/sessions/" + ended + "/cancel", want: 409},
		{route: "POST " + described, path: release, body: `{"name":"` + hidden + `","chart":{"ref":"web"}}`, want: 409},
		{route: "PUT " + describedOne, path: one, body: `{"chart":{"ref":"web"}}`, want: 409},
		{route: "DELETE " + describedOne, path: one, want: 409},
		{route: "POST " + describedOne + "/rollback", path: one + "/rollback", body: `{"revision":1}`, want: 409},
		{route: "POST " + describedOne + "/recover", path: one + "/recover", body: `{"strategy":"uninstall"}`, want: 409},
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

// openRoutes tell nothing of a cluster, or check by themselves.
var openRoutes = []string{
	"POST /login", "POST /logout", "GET /me", "GET /metrics", "GET /healthz", "GET /readyz", "GET /openapi.yaml", "GET /", "GET /helm", "GET /helm/{path}",
	// These are about charts alone; any user may read them.
	"GET /api/helm/chart", "GET /api/helm/charts/index.yaml", "POST /api/helm/verify",
}

func TestEveryRouteIsForThoseWithTheRightOnly(t *testing.T) {
	namespace, elsewhere := clustertest.Namespace(t), clustertest.Namespace(t)
	operator := exampleRole(t, "operator")
	right, rightToken := account(t, namespace, "operator")
	bind(t, namespace, right, operator)
	other, otherToken := account(t, elsewhere, "operator")
	bind(t, elsewhere, other, operator)
	_, nobodyToken := account(t, elsewhere, "nobody")

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})
	owner := h.holding(rightToken)
	first := owner.submit(t, http.MethodPost, owner.releases(namespace), object{"name": hidden, "chart": object{"ref": "web"}})
	events := owner.events(t.Context(), t, first.Events, 1)
	if kind, last := end(t, events); kind != stream.TypeCompleted {
		t.Fatalf("the operator's install ended %s: %s", kind, last.Message)
	}
	if started := events[0].Body.(*stream.Started); started.User != right {
		t.Errorf("the session is of %q, want %q", started.User, right)
	}
	neighbour := h.holding(otherToken)
	second := neighbour.submit(t, http.MethodPost, neighbour.releases(elsewhere), object{"name": "visible", "chart": object{"ref": "web"}})
	if kind, last := end(t, neighbour.events(t.Context(), t, second.Events, 1)); kind != stream.TypeCompleted {
		t.Fatalf("the neighbour's install ended %s: %s", kind, last.Message)
	}
	running := owner.submit(t, http.MethodPut, owner.release(namespace, hidden), object{
		"chart": object{"ref": "web"}, "values": never, "options": object{"wait": true, "timeoutSeconds": 600},
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
				t.Errorf("%s with %s tells of the release: %.200s", c.route, caller.name, answer)
			}
		}
		got, answer := owner.ask(t, method, path, c.body)
		if c.want == 0 && (got == http.StatusUnauthorized || got == http.StatusForbidden) || c.want != 0 && got != c.want {
			t.Errorf("%s with the right: %d, want %d: %.300s", c.route, got, c.want, answer)
		}
	}
	// What others tried has changed nothing: the upgrade still runs.
	if id := owner.session(t, namespace, hidden); id == nil || *id != running.SessionID {
		t.Errorf("the running session is %v, want %s", id, running.SessionID)
	}
	// An id is no ticket to another release's session.
	for _, path := range []string{"/sessions/" + first.SessionID, "/events?sessionId=" + running.SessionID} {
		if got, answer := neighbour.ask(t, http.MethodGet, neighbour.release(elsewhere, "visible")+path, ""); got != http.StatusNotFound {
			t.Errorf("%s of another release: %d %.200s", path, got, answer)
		}
	}
	if got, _ := owner.ask(t, http.MethodPost, owner.release(namespace, hidden)+"/sessions/"+running.SessionID+"/cancel", ""); got != http.StatusAccepted {
		t.Errorf("the owner's cancel: %d", got)
	}
	end(t, owner.events(t.Context(), t, running.Events, 1))
}

// checkComplete fails when the description has a route that no case is about.
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

// Readers see masked values and change nothing; auditors may reveal.
func TestTheExampleRolesDoWhatTheySay(t *testing.T) {
	namespace := clustertest.Namespace(t)
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	auditor, auditorToken := account(t, namespace, "auditor")
	bind(t, namespace, auditor, exampleRole(t, "auditor"))
	reader, readerToken := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})
	owner := h.holding(operatorToken)
	answer := owner.submit(t, http.MethodPost, owner.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": object{"password": "hunter2hunter2"},
	})
	if kind, last := end(t, owner.events(t.Context(), t, answer.Events, 1)); kind != stream.TypeCompleted {
		t.Fatalf("the install ended %s: %s", kind, last.Message)
	}
	values := owner.release(namespace, "web") + "/revisions/1/values"
	for _, test := range []struct {
		name, token, path string
		want              int
		shown             bool
	}{
		{"a reader", readerToken, values, 200, false},
		{"a reader who wants to reveal", readerToken, values + "?reveal=true", 403, false},
		{"an auditor", auditorToken, values, 200, false},
		{"an auditor who reveals", auditorToken, values + "?reveal=true", 200, true},
		{"an operator who reveals", operatorToken, values + "?reveal=true", 200, true},
		{"a reader's list", readerToken, h.releases(namespace), 200, false},
		{"a reader's list of all", readerToken, "/" + h.cluster + "/releases", 200, false},
		{"an auditor's stream", auditorToken, answer.Events, 200, false},
	} {
		got, body := h.holding(test.token).ask(t, http.MethodGet, test.path, "")
		if got != test.want || strings.Contains(body, "hunter2") != test.shown {
			t.Errorf("%s: %d, want %d, shown %v: %.200s", test.name, got, test.want, test.shown, body)
		}
	}
	for _, token := range []string{readerToken, auditorToken} {
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			if got, body := h.holding(token).ask(t, method, h.release(namespace, "web"), `{"chart":{"ref":"web"}}`); got != http.StatusForbidden {
				t.Errorf("%s: %d %s", method, got, body)
			}
		}
	}
}

func TestAStreamEndsWithTheRight(t *testing.T) {
	namespace := clustertest.Namespace(t)
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	reader, readerToken := account(t, namespace, "reader")
	unbind := bind(t, namespace, reader, exampleRole(t, "reader"))

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})
	owner, watcher := h.holding(operatorToken), h.holding(readerToken)
	running := owner.submit(t, http.MethodPost, owner.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never, "options": object{"wait": true, "timeoutSeconds": 600},
	})
	withdrawn, terminal := time.Time{}, false
	err := watcher.frames(t.Context(), running.Events, func(f frame) bool {
		if withdrawn.IsZero() {
			unbind()
			withdrawn = time.Now()
		}
		terminal = terminal || stream.Type(f.event).Terminal()
		return time.Since(withdrawn) < 4*access.Life
	})
	if took := time.Since(withdrawn); err != nil || terminal || took >= 4*access.Life {
		t.Errorf("the stream went on for %v after the right was gone, terminal %v, error %v", took, terminal, err)
	}
	if got, _ := watcher.ask(t, http.MethodGet, running.Events, ""); got != http.StatusForbidden {
		t.Errorf("a new stream: %d, want 403", got)
	}
	if got, _ := owner.ask(t, http.MethodPost, owner.release(namespace, "web")+"/sessions/"+running.SessionID+"/cancel", `{"force":true}`); got != http.StatusAccepted {
		t.Errorf("cancel: %d", got)
	}
	end(t, owner.events(t.Context(), t, running.Events, 1))
}

// helm has the caller's rights and no others, whatever helmtrail's own may do.
func TestHelmRunsWithTheCallersTokenAlone(t *testing.T) {
	namespace := clustertest.Namespace(t)
	user, token := account(t, namespace, "halfway")
	role, err := rbac(t).Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "records-only"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = rbac(t).RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "records-only"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "halfway"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), dataDir: folder, more: []string{"--auth", "kubernetes"}})
	caller := h.holding(token)
	answer := caller.submit(t, http.MethodPost, caller.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}, "options": object{"retries": 0}})
	kind, last := end(t, caller.events(t.Context(), t, answer.Events, 1))
	if kind != stream.TypeFailed || !strings.Contains(last.Message, user) {
		t.Errorf("the install ended %s: %q, want a refusal of %s", kind, last.Message, user)
	}
	short := tokenFor(t, namespace, "halfway", 10*time.Minute)
	var refused struct{ Code string }
	body := object{"name": "late", "chart": object{"ref": "web"}, "options": object{"timeoutSeconds": 3600}}
	if code := h.holding(short).call(t, http.MethodPost, h.releases(namespace), body, &refused); code != http.StatusBadRequest || refused.Code != "token_expires" {
		t.Errorf("an operation longer than its token: %d %s, want 400 token_expires", code, refused.Code)
	}
	h.stop()
	// Nothing that is kept holds the token.
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(token)) {
			t.Errorf("%s holds the caller's token", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoginKeepsTheTokenFromScriptsAndOtherSites(t *testing.T) {
	namespace := clustertest.Namespace(t)
	user, token := account(t, namespace, "reader")
	bind(t, namespace, user, exampleRole(t, "reader"))
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes", "--base-path", "/trail/"}})
	post := func(path, body string, cookies ...*http.Cookie) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cookies {
			request.AddCookie(c)
		}
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}
	if r := post("/trail/login", `{"token":"nonsense"}`); r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) > 0 {
		t.Errorf("a bad token: %d %v", r.StatusCode, r.Cookies())
	}
	signedIn := post("/trail/login", `{"token":"`+token+`"}`)
	if signedIn.StatusCode != http.StatusOK || len(signedIn.Cookies()) != 1 {
		t.Fatalf("login: %d, cookies %v", signedIn.StatusCode, signedIn.Cookies())
	}
	cookie := signedIn.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/trail/" || cookie.Expires.Before(time.Now().Add(30*time.Minute)) {
		t.Errorf("the cookie is %+v", cookie)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/trail"+h.releases(namespace), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(cookie)
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %d", response.StatusCode)
	}
	if r := post("/trail/logout", "", cookie); r.StatusCode != http.StatusNoContent || len(r.Cookies()) != 1 || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d %v", r.StatusCode, r.Cookies())
	}
	var me struct {
		Auth     string
		Clusters []struct {
			ID   string
			User *string
		}
	}
	h.holding("").get(t, "/trail/me", &me)
	if me.Auth != "kubernetes" || len(me.Clusters) != 1 || me.Clusters[0].User != nil {
		t.Errorf("without a token /me is %+v", me)
	}
	h.holding(token).get(t, "/trail/me", &me)
	if me.Clusters[0].User == nil || *me.Clusters[0].User != user {
		t.Errorf("with a token /me is %+v, want %s", me, user)
	}
	if got := fmt.Sprint(me.Clusters[0].ID); got != h.cluster {
		t.Errorf("the cluster is %s", got)
	}
}

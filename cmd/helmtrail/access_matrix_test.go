package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// matrixRoute is a route of openapi.yaml as a request that passes authorization, but
// then changes nothing.
type matrixRoute struct {
	name, method, path, body string
	// needs has the permissions that the request needs, all of them.
	needs []string
	// open means that the route has no namespace, so that a list shows what the caller
	// may list.
	open bool
}

// matrixRoutes returns the routes of openapi.yaml. A route with a parameter that
// parameters does not have fails the test.
func matrixRoutes(t *testing.T, parameters map[string]string) []matrixRoute {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	console, err := json.Marshal(object{"namespace": parameters["namespace"], "name": parameters["name"], "chart_url": "absent", "version": 99})
	if err != nil {
		t.Fatal(err)
	}
	var routes []matrixRoute
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			r := matrixRoute{name: method + " " + path, method: method, path: path}
			list, ok := operation.Extensions["x-permissions"].([]any)
			if !ok {
				t.Errorf("%s: openapi.yaml has no x-permissions", r.name)
			}
			for _, need := range list {
				r.needs = append(r.needs, fmt.Sprint(need))
			}
			for name, value := range parameters {
				r.path = strings.ReplaceAll(r.path, "{"+name+"}", value)
			}
			if strings.Contains(r.path, "{") {
				t.Errorf("%s: this test knows no value for a parameter", r.name)
			}
			r.open = !strings.Contains(path, "{namespace}")
			if operation.RequestBody != nil {
				r.body = "{}"
			}
			switch {
			case strings.HasPrefix(path, "/api/helm/"):
				// The contract reads the namespace from the query or the body.
				r.open = false
				if operation.RequestBody != nil {
					r.body = string(console)
				}
				if slices.Contains(r.needs, "upload") {
					r.body = strings.Replace(r.body, `"absent"`, `"https://elsewhere.invalid/web-1.0.0.tgz"`, 1)
				}
				r.path += "?ns=" + parameters["namespace"] + "&namespace=" + parameters["namespace"] + "&noRepo=true&url=https://elsewhere.invalid/web-1.0.0.tgz"
				r.path += "&name=" + map[bool]string{true: "absent", false: parameters["name"]}[method == http.MethodDelete]
			case method == http.MethodDelete:
				r.path += "?unknown=1"
			case path == "/charts":
				r.path += "?namespace=" + parameters["namespace"]
			case strings.HasSuffix(path, "{name}/events"):
				r.path += "?sessionId=" + parameters["session"]
			case strings.HasSuffix(path, "/diff"):
				r.path += "?from=1&to=1"
			}
			routes = append(routes, r)
		}
	}
	slices.SortFunc(routes, func(a, b matrixRoute) int { return strings.Compare(a.name, b.name) })
	return routes
}

// matrixCaller is a caller with some permissions.
type matrixCaller struct {
	name, token string
	known       bool
	// has are permissions in the namespace of the requests, elsewhere in another one.
	has, elsewhere []string
}

// may reports whether the caller may send the request.
func (c matrixCaller) may(r matrixRoute) bool {
	for _, need := range r.needs {
		allowed := slices.Contains(c.has, need)
		switch need {
		case "user":
			allowed = c.known
		case "list", "trail":
			allowed = slices.Contains(c.has, "list") || r.open && slices.Contains(c.elsewhere, "list")
		}
		if !allowed {
			return false
		}
	}
	return true
}

// The matrix has every route of openapi.yaml and callers with every single
// permission. Whoever lacks a permission is refused, everybody else is not.
func TestEveryCallerMayDoExactlyWhatOpenAPISays(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		namespace, other := clustertest.Namespace(t), clustertest.Namespace(t)
		owner, ownerToken := account(t, namespace, "owner")
		bind(t, namespace, owner, exampleRole(t, "operator"))
		h := serveOn(t, arguments{helm: helm, more: []string{"--auth", "kubernetes", "--chart-hosts", "elsewhere.invalid"}})
		install := h.holding(ownerToken).submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
		if kind, last := end(t, h.holding(ownerToken).events(t.Context(), t, install.Events, 1)); kind != helmtrail.TypeCompleted {
			t.Fatalf("the install ended %s: %s", kind, last.Message)
		}

		// A namespace without releases is not known to those who may list only there.
		clustertest.Helm(t, 4, "install", "neighbour", clustertest.Chart(t), "--namespace", other)
		secrets := func(verbs ...string) rbacv1.PolicyRule {
			return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: verbs}
		}
		callers := []matrixCaller{{name: "nobody"}, {name: "a bad token", token: "nonsense"}}
		for _, c := range []struct {
			name           string
			rules          []rbacv1.PolicyRule
			has, elsewhere []string
		}{
			{name: "no-permission"},
			{name: "reader", rules: []rbacv1.PolicyRule{seesReleases}, has: []string{"get", "list"}},
			{name: "reader-elsewhere", rules: []rbacv1.PolicyRule{seesReleases}, elsewhere: []string{"get", "list"}},
			{name: "secret-reader", rules: []rbacv1.PolicyRule{secrets("get")}, has: []string{"get", "reveal"}},
			{name: "secret-lister", rules: []rbacv1.PolicyRule{secrets("list")}, has: []string{"list"}},
			{name: "creator", rules: []rbacv1.PolicyRule{secrets("create")}, has: []string{"create"}},
			{name: "updater", rules: []rbacv1.PolicyRule{secrets("update")}, has: []string{"update"}},
			{name: "deleter", rules: []rbacv1.PolicyRule{secrets("delete")}, has: []string{"delete"}},
			{name: "chart-adder", rules: []rbacv1.PolicyRule{{APIGroups: []string{"helmtrail.dev"}, Resources: []string{"charts"}, Verbs: []string{"create"}}}, has: []string{"upload"}},
			{name: "all-elsewhere", rules: []rbacv1.PolicyRule{seesReleases, secrets("*")}, elsewhere: []string{"get", "list", "reveal", "create", "update", "delete"}},
		} {
			home := namespace
			if c.elsewhere != nil {
				home = other
			}
			user, token := account(t, home, c.name)
			if c.rules != nil {
				bind(t, home, user, roleFor(t, c.rules...))
			}
			callers = append(callers, matrixCaller{name: c.name, token: token, known: true, has: c.has, elsewhere: c.elsewhere})
		}
		eventually(t, "the neighbour's release is known", func() bool {
			status, _ := h.holding(callers[len(callers)-1].token).ask(t, http.MethodGet, "/"+h.cluster+"/releases", "")
			return status == http.StatusOK
		})
		_, scraperToken := account(t, namespace, "scraper")
		letScrape(t, namespace, "scraper")
		callers = append(callers,
			matrixCaller{name: "scraper", token: scraperToken, known: true, has: []string{"metrics"}},
			matrixCaller{name: "the operator", token: ownerToken, known: true, has: []string{"get", "list", "reveal", "create", "update", "delete", "upload"}},
		)

		routes := matrixRoutes(t, map[string]string{
			"cluster": h.cluster, "namespace": namespace, "name": "web", "session": install.SessionID,
			"revision": "1", "part": "values", "ref": "web", "path": "releases",
		})
		grants, refusals, wrongGrants, wrongRefusals := 0, 0, 0, 0
		for _, r := range routes {
			for _, c := range callers {
				status, answer := h.holding(c.token).ask(t, r.method, r.path, r.body)
				refused := status == http.StatusUnauthorized || status == http.StatusForbidden
				switch {
				case c.may(r) && refused:
					wrongRefusals++
					t.Errorf("%s is refused to %s: %d %.200s", r.name, c.name, status, answer)
				case !c.may(r) && !refused:
					wrongGrants++
					t.Errorf("%s is granted to %s: %d %.200s", r.name, c.name, status, answer)
				case refused:
					refusals++
				default:
					grants++
				}
			}
		}
		t.Logf("%d routes, %d callers: %d grants, %d refusals, %d wrong grants, %d wrong refusals", len(routes), len(callers), grants, refusals, wrongGrants, wrongRefusals)
		if grants == 0 || refusals == 0 {
			t.Error("the matrix has no grants or no refusals")
		}
	})
}

package openapitest

import (
	"net/http"
	"strings"
	"testing"
)

func TestUndescribedResponsesAreFound(t *testing.T) {
	const problem = `{"code":"internal","message":"Oh."}`
	for _, c := range []struct {
		method, path string
		status       int
		header       http.Header
		body         string
		want         string // "" for nothing
	}{
		{"GET", "/healthz", 200, http.Header{"Content-Type": {"application/json"}}, `{"status":"ok"}`, ""},
		{"GET", "/healthz", 200, http.Header{"Content-Type": {"application/json"}}, `{"status":"bad"}`, "status"},
		{"GET", "/healthz", 200, http.Header{"Content-Type": {"application/json"}}, `{"status":"ok","more":1}`, "more"},
		{"GET", "/healthz", 200, http.Header{"Content-Type": {"application/json"}}, `{}`, "status"},
		{"GET", "/healthz", 200, http.Header{"Content-Type": {"text/plain"}}, `ok`, "Content-Type"},
		{"GET", "/healthz", 201, http.Header{"Content-Type": {"application/json"}}, `{"status":"ok"}`, "status is not described"},
		{"GET", "/clusters", 500, http.Header{"Content-Type": {"application/json"}}, problem, ""},
		{"GET", "/clusters", 500, http.Header{"Content-Type": {"application/json"}}, `{"code":"new","message":"Oh."}`, "code"},
		{"GET", "/clusters", 204, nil, "", "status is not described"},
		{"POST", "/logout", 204, nil, "left", "no body"},
		{"GET", "/dev/namespaces/a/releases/b", 200, http.Header{"Content-Type": {"application/json"}}, `{}`, "ETag"},
		{"GET", "/charts/oci://x/y", 404, http.Header{"Content-Type": {"application/json"}}, problem, ""},
		{"GET", "/no/such/place/at/all", 404, http.Header{"Content-Type": {"application/json"}}, problem, ""},
		{"GET", "/no/such/place/at/all", 200, http.Header{"Content-Type": {"application/json"}}, problem, "not described"},
		{"PUT", "/healthz", 405, http.Header{"Content-Type": {"application/json"}}, problem, ""},
		{"PUT", "/healthz", 200, http.Header{"Content-Type": {"application/json"}}, problem, "not described"},
	} {
		err := load(t).check(c.method, c.path, &http.Response{StatusCode: c.status, Header: c.header}, []byte(c.body))
		switch {
		case err == nil && c.want != "":
			t.Errorf("%s %s %d %q passes, want %q", c.method, c.path, c.status, c.body, c.want)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s %d %q: %v, want %q", c.method, c.path, c.status, c.body, err, c.want)
		}
	}
}

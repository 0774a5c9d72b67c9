package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

func TestForeignHostNamesAreRejected(t *testing.T) {
	f := newFixture(t, func(o *web.Options, _ *stream.Setup) {
		o.LocalOnly, o.Hosts = true, []string{"trail.example.com"}
	})
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]", "app.localhost:1", "trail.example.com", "localhost."} {
		if r := f.do(http.MethodGet, "/clusters", "", "Host", host); r.status != http.StatusOK {
			t.Errorf("host %q: %d", host, r.status)
		}
	}
	for _, host := range []string{"evil.example.com", "127.0.0.1.evil.example.com:8080", "localhost.evil.example.com", "10.0.0.1", "127.0.0.1:80:80"} {
		for _, path := range []string{"/clusters", "/helm/releases", "/healthz", "/none"} {
			f.do(http.MethodGet, path, "", "Host", host).wantError(http.StatusForbidden, "forbidden")
		}
	}
}

func TestForeignPagesCannotChangeAnything(t *testing.T) {
	f := newFixture(t)
	for _, headers := range [][]string{{"Origin", "https://evil.example.com"}, {"Sec-Fetch-Site", "cross-site"}} {
		f.do(http.MethodDelete, shopURL+"/web", "", headers...).wantError(http.StatusForbidden, "forbidden")
	}
	if r := f.do(http.MethodDelete, shopURL+"/web", "", "Sec-Fetch-Site", "same-origin", "Origin", f.url); r.status != http.StatusAccepted {
		t.Errorf("own page: %d", r.status)
	}
}

func TestResponsesHaveSecurityHeaders(t *testing.T) {
	f := newFixture(t)
	id, _ := f.install("web")
	stream := f.listen(sessionEvents("web", id))
	answers := map[string]http.Header{"a stream": stream.header}
	for _, path := range []string{"/helm/releases", "/clusters", "/none", "/api/helm/release", shopURL + "/web/sessions"} {
		answers[path] = f.do(http.MethodGet, path, "").header
	}
	for what, header := range answers {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s has %s %q, want %q", what, name, got, want)
			}
		}
		if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s has the policy %q", what, policy)
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may be read by other sites", what)
		}
	}
}

func TestUnknownPathsAndMethodsAreJSONErrors(t *testing.T) {
	f := newFixture(t)
	f.do(http.MethodGet, "/none", "").wantError(http.StatusNotFound, "not_found")
	f.do(http.MethodGet, "/dev/namespaces/shop", "").wantError(http.StatusNotFound, "not_found")
	r := f.do(http.MethodPost, "/clusters", "")
	r.wantError(http.StatusMethodNotAllowed, "method_not_allowed")
	if r.header.Get("Allow") == "" {
		t.Error("405 without Allow")
	}
}

func TestAPanicIsAnErrorAndItsValueIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	f := newFixture(t, func(o *web.Options, _ *stream.Setup) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	f.state = func() web.ClusterState { panic("password hunter2") }
	f.do(http.MethodGet, "/clusters", "", "Authorization", "Bearer hunter2").wantError(http.StatusInternalServerError, "internal")
	if !strings.Contains(log.String(), "panic") || strings.Contains(log.String(), "hunter2") {
		t.Errorf("log: %s", log.String())
	}
}

func TestClusterMustNotHideRoutes(t *testing.T) {
	for _, id := range []string{"helm", "clusters", "", "api"} {
		_, err := web.New(web.Options{
			Pages:    newFixturePages(),
			Clusters: []web.Cluster{{ID: id, Releases: &releases{}}},
		})
		if err == nil {
			t.Errorf("cluster %q is served", id)
		}
	}
}

package web_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

func newFixturePages() fstest.MapFS {
	return fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html><title>helmtrail</title>")},
		"favicon.svg":         {Data: []byte("<svg/>")},
		"assets/app-abc12.js": {Data: []byte("export {}")},
	}
}

func TestPagesAndAssets(t *testing.T) {
	f := newFixture(t)
	const forever, asked = "public, max-age=31536000, immutable", "no-cache"
	for _, c := range []struct{ path, kind, cache, body string }{
		{"/helm/", "text/html", asked, "<!doctype"},
		{"/helm/index.html", "text/html", asked, "<!doctype"},
		{"/helm/releases", "text/html", asked, "<!doctype"},
		{"/helm/releases/dev/shop/my.release", "text/html", asked, "<!doctype"},
		{"/helm/events/dev/shop/web?sessionId=x", "text/html", asked, "<!doctype"},
		{"/helm/favicon.svg", "image/svg+xml", asked, "<svg/>"},
		{"/helm/assets/app-abc12.js", "text/javascript", forever, "export"},
		{"/helm/../helm/releases", "text/html", asked, "<!doctype"},
	} {
		r := f.do(http.MethodGet, c.path, "")
		if r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("Content-Type"), c.kind) ||
			r.header.Get("Cache-Control") != c.cache || !strings.HasPrefix(r.body, c.body) {
			t.Errorf("%s: %d %v %q", c.path, r.status, r.header, r.body)
		}
		policy := r.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", c.path, policy)
		}
	}
	f.do(http.MethodGet, "/helm/assets/gone-123.js", "").wantError(http.StatusNotFound, "not_found")
	f.do(http.MethodGet, "/helm/assets", "").wantError(http.StatusNotFound, "not_found")

	index := f.do(http.MethodGet, "/helm/releases", "")
	again := f.do(http.MethodGet, "/helm/install/dev/shop", "", "If-None-Match", index.header.Get("ETag"))
	if again.status != http.StatusNotModified {
		t.Errorf("unchanged page: %d", again.status)
	}
	for _, path := range []string{"/", "/helm"} {
		r := f.do(http.MethodGet, path, "")
		if to := r.header.Get("Location"); r.status/100 != 3 || !strings.HasPrefix(to, "/helm/") {
			t.Errorf("%s redirects to %q with %d", path, to, r.status)
		}
	}
}

func TestMissingPagesAreAnError(t *testing.T) {
	for _, files := range []fstest.MapFS{nil, {}} {
		if _, err := web.New(web.Options{Pages: files}); err == nil {
			t.Error("a server without pages was created")
		}
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	f := newFixture(t)
	want, err := os.ReadFile("../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := f.do(http.MethodGet, "/openapi.yaml", "")
	if r.status != http.StatusOK || r.body != string(want) || r.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%d %v", r.status, r.header)
	}
}

func TestPagesBelowABasePath(t *testing.T) {
	f := newFixture(t, func(o *web.Options, _ *stream.Setup) {
		o.BasePath = "/trail"
		o.Pages = fstest.MapFS{"index.html": {Data: []byte(`<head><script src="./assets/a.js"></script></head>`)}}
	})
	for _, path := range []string{"/trail/helm/releases", "/helm/releases"} {
		r := f.do(http.MethodGet, path, "")
		want := `<head><script src="/trail/helm/assets/a.js"></script><meta name="helmtrail-base" content="/trail"></head>`
		if r.status != http.StatusOK || r.body != want {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := f.do(http.MethodGet, "/trail", ""); r.header.Get("Location") != "/trail/helm/releases" {
		t.Errorf("the root redirects to %q", r.header.Get("Location"))
	}
	f.do(http.MethodGet, "/trailer/clusters", "").wantError(http.StatusNotFound, "not_found")
}

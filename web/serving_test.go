package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web"
)

// consoleInstall starts an install through the console's contract, which answers after
// Helm has ended. It returns the Helm process.
func (f *fixture) consoleInstall() (answered <-chan response, p *process) {
	f.t.Helper()
	answers := make(chan response, 1)
	go func() {
		answers <- f.do(http.MethodPost, "/api/helm/release", `{"namespace":"shop","name":"web","chart_url":"web"}`)
	}()
	for {
		if id, ok := f.operations.Active(helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}); ok {
			return answers, f.helm.process(id)
		}
		time.Sleep(time.Millisecond)
	}
}

// Helm may take longer than the transfer of a request body or a response.
func TestWaitingForHelmIsNotLimitedByTheTransferTime(t *testing.T) {
	const body, answer = 100 * time.Millisecond, 150 * time.Millisecond
	f := newFixture(t)
	f.server.SetWireTimes(body, answer)
	answered, p := f.consoleInstall()
	time.Sleep(body + 2*answer)
	p.end()
	if r := soon(t, answered); r.status != http.StatusBadGateway || !strings.Contains(r.body, "helm has ended and left no revision") {
		t.Errorf("the install answered %d %q", r.status, r.body)
	}
}

// With --on-stop=leave Helm continues. Clients waiting for it must not keep the server
// running.
func TestClosingAnswersRequestsThatWaitForHelm(t *testing.T) {
	f := newFixture(t)
	answered, p := f.consoleInstall()
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	if r := soon(t, answered); r.status != http.StatusBadGateway || !strings.Contains(r.body, "goes on") || !strings.Contains(r.body, p.ref.ID) {
		t.Errorf("the install answered %d %q", r.status, r.body)
	}
}

func TestHEADIsGETWithoutTheBody(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/helm/releases", "/clusters", "/healthz", "/openapi.yaml"} {
		get := f.do(http.MethodGet, path, "")
		head, err := http.Head(f.url + path)
		if err != nil {
			t.Fatal(err)
		}
		head.Body.Close()
		if head.StatusCode != http.StatusOK || head.Header.Get("ETag") != get.header.Get("ETag") || head.Header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %v", path, head.StatusCode, head.Header)
		}
	}
}

// A proxy may keep the base path or remove it, so no other path may start with it.
func TestABasePathMustNotEqualARoute(t *testing.T) {
	for base, allowed := range map[string]bool{"/helm": false, "/api/helmtrail": false, "/dev": false, "/tools/helm": true, "/helmtrail": true} {
		server, err := web.New(web.Options{
			Pages: newFixturePages(), BasePath: base, Clusters: []web.Cluster{{ID: "dev", Releases: &releases{}}},
		})
		if (err == nil) != allowed {
			t.Errorf("base path %s: %v, want it allowed: %v", base, err, allowed)
		}
		if server != nil {
			_ = server.Close() // it never fails
		}
	}
}

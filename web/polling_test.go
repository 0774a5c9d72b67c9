package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

const releaseURL = shopURL + "/web"

// waiting starts a long poll and returns the channel of its response.
func (f *fixture) waiting(path, tag string) <-chan response {
	answered := make(chan response, 1)
	go func() { answered <- f.do(http.MethodGet, path, "", "If-None-Match", tag) }()
	return answered
}

// soon returns a response that must arrive long before the poll's time is over.
func soon(t *testing.T, answered <-chan response) response {
	t.Helper()
	select {
	case r := <-answered:
		return r
	case <-time.After(atOnce):
		t.Fatal("the long poll was not answered")
		return response{}
	}
}

func TestALongPollReturnsOnTheFirstChange(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusPendingInstall))
	for _, path := range []string{releaseURL, shopURL, "/dev/releases"} {
		before := f.do(http.MethodGet, path, "")
		answered := f.waiting(path+"?wait=60", before.header.Get("ETag"))
		f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
		after := soon(t, answered)
		if after.status != http.StatusOK || after.body == before.body || after.header.Get("ETag") == before.header.Get("ETag") {
			t.Errorf("%s answered %d %s after %s", path, after.status, after.body, before.body)
		}
		f.releases.put(revision("shop", "web", 1, decoder.StatusPendingInstall))
	}
}

func TestALongPollReturnsWhenASessionBeginsAndEnds(t *testing.T) {
	f := newFixture(t)
	path := releaseURL + "/sessions"
	answered := f.waiting(path+"?wait=60", f.do(http.MethodGet, path, "").header.Get("ETag"))
	id, process := f.install("web")
	running := soon(t, answered)
	if running.status != http.StatusOK {
		t.Fatalf("the start of a session answered %d %s", running.status, running.body)
	}
	answered = f.waiting(path+"/"+id+"?wait=60", f.do(http.MethodGet, path+"/"+id, "").header.Get("ETag"))
	process.end()
	var session struct{ State string }
	soon(t, answered).decode(http.StatusOK, &session)
	if session.State == "running" {
		t.Error("the session is reported as running after its end")
	}
}

func TestALongPollEndsWithNotModified(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	tag := f.do(http.MethodGet, releaseURL, "").header.Get("ETag")
	if r := f.do(http.MethodGet, releaseURL+"?wait=1", "", "If-None-Match", tag); r.status != http.StatusNotModified || r.header.Get("ETag") != tag {
		t.Errorf("after the wait: %d %s", r.status, r.body)
	}
	// Without an ETag the request does not wait.
	if r := f.do(http.MethodGet, releaseURL+"?wait=60", ""); r.status != http.StatusOK {
		t.Errorf("without an ETag: %d %s", r.status, r.body)
	}
	f.do(http.MethodGet, releaseURL+"?wait=soon", "").wantError(http.StatusBadRequest, "bad_request")
	answered := f.waiting(releaseURL+"?wait=60", tag)
	if err := f.server.Close(); err != nil {
		t.Fatal(err)
	}
	if r := soon(t, answered); r.status != http.StatusNotModified {
		t.Errorf("when the server is closed: %d %s", r.status, r.body)
	}
}

func TestEveryReadHasAnETag(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	id, _ := f.install("other")
	for _, path := range []string{
		"/clusters", "/charts", "/dev/releases", shopURL, releaseURL, releaseURL + "/sessions",
		shopURL + "/other/sessions/" + id, "/me", "/openapi.yaml", "/helm/releases",
	} {
		first := f.do(http.MethodGet, path, "")
		tag := first.header.Get("ETag")
		if first.status != http.StatusOK || tag == "" {
			t.Errorf("GET %s: %d, ETag %q", path, first.status, tag)
			continue
		}
		if again := f.do(http.MethodGet, path, "", "If-None-Match", tag); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("GET %s again: %d %q, want 304", path, again.status, again.body)
		}
	}
}

// lister may list the releases of some namespaces; "" means all.
type lister struct {
	mu         sync.Mutex
	namespaces []string
}

func (l *lister) set(namespaces ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.namespaces = namespaces
}

func (*lister) User(context.Context, helmtrail.Credentials) (helmtrail.User, error) {
	return helmtrail.User{Name: "lister"}, nil
}

func (l *lister) Allowed(_ context.Context, _ helmtrail.Credentials, right helmtrail.Right) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.namespaces, right.Namespace) {
		return nil
	}
	return &helmtrail.ForbiddenError{User: "lister", Right: right}
}

// A caller who could list all namespaces when the poll began receives only those that
// they may list at the end.
func TestALongPollsListShrinksWithTheCallersPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, access := &releases{}, &lister{}
		access.set("", "shop")
		known.put(revision("shop", "web", 1, decoder.StatusDeployed), revision("prod", "db", 1, decoder.StatusDeployed))
		server, err := web.New(web.Options{
			Clusters: []web.Cluster{{
				ID: "dev", Releases: known, Access: access, State: func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} },
			}},
			Operations: stream.NewOperations(stream.Setup{}), Pages: newFixturePages(),
		})
		if err != nil {
			t.Fatal(err)
		}
		list := func(tag string) *httptest.ResponseRecorder {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dev/releases?wait=55", nil)
			request.Header.Set("If-None-Match", tag)
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, request)
			return answer
		}
		before := list("")
		if !strings.Contains(before.Body.String(), `"db"`) {
			t.Fatalf("with permission for all namespaces: %d %s", before.Code, before.Body)
		}
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- list(before.Header().Get("ETag")) }()
		synctest.Wait()
		access.set("shop")
		time.Sleep(11 * time.Second) // reviews are cached for ten
		known.put(revision("prod", "db", 2, decoder.StatusDeployed))
		after := <-answered
		if body := after.Body.String(); after.Code != http.StatusOK || strings.Contains(body, `"db"`) || !strings.Contains(body, `"web"`) {
			t.Errorf("with permission for the namespace shop only: %d %s", after.Code, body)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

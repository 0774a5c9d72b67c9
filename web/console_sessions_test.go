package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// Clients of the contract see from the Secrets that a release is done, and submit the
// next operation at once. The watch may see it a moment later.
func TestTheConsoleMayBeAheadOfTheWatch(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusPendingInstall))
	id, p := f.install("web")
	answers := make(chan response, 1)
	go func() {
		answers <- f.do(http.MethodPatch, "/api/helm/release", `{"namespace":"shop","name":"web","version":1}`)
	}()
	select {
	case r := <-answers:
		t.Fatalf("while the watch still says pending the rollback answers %d %s", r.status, r.body)
	case <-time.After(300 * time.Millisecond):
	}
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	p.end()
	next := id
	for next == id || next == "" {
		next, _ = f.operations.Active(helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"})
		time.Sleep(time.Millisecond)
	}
	f.helm.process(next).end()
	if r := soon(t, answers); !strings.Contains(r.body, "left no revision") {
		t.Errorf("the rollback answers %d %s, want it to have run", r.status, r.body)
	}
}

// While Helm is running, another operation is rejected.
func TestTheConsoleIsRejectedWhileHelmIsRunning(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusPendingInstall))
	f.install("web")
	r := f.do(http.MethodPatch, "/api/helm/release", `{"namespace":"shop","name":"web","version":1}`)
	if r.status != http.StatusBadGateway || !strings.Contains(r.body, "Another operation on release web is running") {
		t.Errorf("the rollback answers %d %s", r.status, r.body)
	}
}

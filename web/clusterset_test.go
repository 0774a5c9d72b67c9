package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

func TestAClusterIsAddedAndRemoved(t *testing.T) {
	f := newFixture(t)
	second := web.Cluster{
		ID: "second", Releases: &releases{}, State: func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} },
	}
	f.do(http.MethodGet, "/second/releases", "").wantError(http.StatusNotFound, "not_found")
	if err := f.server.AddCluster(second); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{"second", "dev", "api"} {
		if err := f.server.AddCluster(web.Cluster{ID: taken, Releases: &releases{}}); err == nil {
			t.Errorf("the id %q is taken twice", taken)
		}
	}
	second.Releases.(*releases).put(&decoder.Revision{Namespace: "shop", Name: "web", Number: 1})
	listed := f.do(http.MethodGet, "/second/releases", "")
	if listed.status != http.StatusOK || !strings.Contains(listed.body, `"web"`) {
		t.Errorf("the new cluster lists %d %s", listed.status, listed.body)
	}

	events := f.listen("/second/releases/events")
	polled := make(chan response, 1)
	begun := time.Now()
	go func() {
		polled <- f.do(http.MethodGet, "/second/releases?wait=30", "", "If-None-Match", listed.header.Get("ETag"))
	}()
	if first, ok := events.next(); !ok || first.event != "HEARTBEAT" {
		t.Errorf("its stream starts with %+v", first)
	}
	f.server.RemoveCluster("second")
	f.server.RemoveCluster("second")
	for {
		if _, ok := events.next(); !ok {
			break
		}
	}
	if r := <-polled; r.status != http.StatusNotModified && r.status != http.StatusNotFound || time.Since(begun) > atOnce {
		t.Errorf("its long poll was answered %d after %v", r.status, time.Since(begun))
	}
	f.do(http.MethodGet, "/second/releases", "").wantError(http.StatusNotFound, "not_found")
	if list := f.do(http.MethodGet, "/clusters", ""); strings.Contains(list.body, "second") {
		t.Errorf("it is still listed: %s", list.body)
	}
	second.Releases.(*releases).mu.Lock()
	defer second.Releases.(*releases).mu.Unlock()
	if left := len(second.Releases.(*releases).observers); left > 0 {
		t.Errorf("%d observers of it are left", left)
	}
}

func TestTheDefaultClusterMustExist(t *testing.T) {
	_, err := web.New(web.Options{Pages: newFixturePages(), DefaultCluster: "nowhere", Operations: stream.NewOperations(stream.Setup{})})
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a default cluster that does not exist: %v", err)
	}
}

// busy is the access of a cluster that knows every caller. Each question calls
// happens first.
type busy struct {
	nobody
	happens func()
}

func (b *busy) User(context.Context, helmtrail.Credentials) (helmtrail.User, error) {
	b.happens()
	return helmtrail.User{Name: "somebody"}, nil
}

// A cluster that was not asked about the caller may not know them.
func TestAClusterAddedDuringARequestIsNotListedYet(t *testing.T) {
	access := &busy{}
	f := newFixture(t, func(o *web.Options, _ *stream.Setup) { o.Clusters[0].Access = access })
	access.happens = func() {
		if err := f.server.AddCluster(web.Cluster{ID: "second", Releases: &releases{}, State: f.state, Access: nobody{}}); err != nil {
			t.Error(err)
		}
	}
	list := f.do(http.MethodGet, "/clusters", "")
	if list.status != http.StatusOK || !strings.Contains(list.body, `"dev"`) || strings.Contains(list.body, `"second"`) {
		t.Errorf("the list is %d %s", list.status, list.body)
	}
}

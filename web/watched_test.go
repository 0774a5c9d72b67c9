package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

// What helmtrail does not watch is out of reach, although its account may read it.
func TestANamespaceThatIsNotWatchedIsNotComparedWith(t *testing.T) {
	a := newArchive(t, func(o *web.Options) { o.Clusters[0].Namespaces = []string{"shop"} })
	a.put(t, shop{revision: 1, status: "deployed", record: `"info":{"status":"deployed"}`})
	a.put(t, shop{namespace: "prod", revision: 7, status: "deployed", record: `"info":{"status":"deployed"}`})
	for _, query := range []string{"fromNamespace=prod", "fromNamespace=prod&from=7", "fromCluster=dev&fromNamespace=prod&from=7"} {
		a.do(http.MethodGet, shopURL+"/web/diff?"+query, "").wantError(http.StatusForbidden, "forbidden")
	}
}

func TestTheConsoleInstallsNothingInANamespaceThatIsNotWatched(t *testing.T) {
	a := newArchive(t, func(o *web.Options) { o.Clusters[0].Namespaces = []string{"shop"} })
	r := a.do(http.MethodPost, "/api/helm/release", `{"namespace":"prod","name":"web","chart_url":"https://charts.example.com/web-1.2.3.tgz"}`)
	if r.status != http.StatusForbidden || !strings.Contains(r.body, "it watches only shop") {
		t.Errorf("the install was answered with %d %s", r.status, r.body)
	}
}

// nobody is the access of a cluster that knows none of its callers.
type nobody struct{}

func (nobody) User(context.Context, stream.Credentials) (stream.User, error) {
	return stream.User{}, stream.ErrUnauthenticated
}

func (nobody) Allowed(context.Context, stream.Credentials, stream.Right) error {
	return stream.ErrUnauthenticated
}

func TestWhichNamespacesAreWatchedIsNotToldToStrangers(t *testing.T) {
	a := newArchive(t, func(o *web.Options) {
		o.Clusters[0].Namespaces, o.Clusters[0].Access = []string{"hidden"}, nobody{}
	})
	r := a.do(http.MethodGet, "/dev/namespaces/prod/releases", "")
	r.wantError(http.StatusUnauthorized, "unauthenticated")
	if strings.Contains(r.body, "hidden") {
		t.Errorf("a stranger is told %s", r.body)
	}
}

package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web"
)

// A namespace that is not watched is out of reach, even if helmtrail's account
// may read it.
func TestANamespaceThatIsNotWatchedIsNotCompared(t *testing.T) {
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
		t.Errorf("the install answered %d %s", r.status, r.body)
	}
}

// An empty list for a namespace that is not watched would be wrong.
func TestTheConsoleReadsNothingFromANamespaceThatIsNotWatched(t *testing.T) {
	a := newArchive(t, func(o *web.Options) {
		o.Clusters[0].Namespaces = []string{"shop", "denied"}
		o.Clusters[0].StateIn = func(namespace string) web.ClusterState {
			return web.ClusterState{Reachable: namespace != "denied", Synced: namespace != "denied", Problem: "secrets is forbidden"}
		}
		o.MayReveal = func(helmtrail.ReleaseRef) error { return nil }
	})
	a.state = func() web.ClusterState { return web.ClusterState{Problem: "one of the namespaces cannot be read"} }
	for namespace, want := range map[string]struct {
		status int
		text   string
	}{
		"shop": {http.StatusOK, "[]"}, "prod": {http.StatusForbidden, "it watches only shop"}, "denied": {http.StatusBadGateway, "secrets is forbidden"},
	} {
		for _, path := range []string{"/releases?ns=", "/release?name=web&ns=", "/release/history?name=web&ns="} {
			r := a.do(http.MethodGet, "/api/helm"+path+namespace, "")
			if namespace == "shop" && path != "/releases?ns=" {
				continue // The release does not exist.
			}
			if r.status != want.status || !strings.Contains(r.body, want.text) {
				t.Errorf("%s%s answered %d %s, want %d and %q", path, namespace, r.status, r.body, want.status, want.text)
			}
		}
	}
}

// nobody is the access of a cluster that knows no callers.
type nobody struct{}

func (nobody) User(context.Context, helmtrail.Credentials) (helmtrail.User, error) {
	return helmtrail.User{}, helmtrail.ErrUnauthenticated
}

func (nobody) Allowed(context.Context, helmtrail.Credentials, helmtrail.Right) error {
	return helmtrail.ErrUnauthenticated
}

func TestStrangersDoNotLearnTheWatchedNamespaces(t *testing.T) {
	a := newArchive(t, func(o *web.Options) {
		o.Clusters[0].Namespaces, o.Clusters[0].Access = []string{"hidden"}, nobody{}
	})
	r := a.do(http.MethodGet, "/dev/namespaces/prod/releases", "")
	r.wantError(http.StatusUnauthorized, "unauthenticated")
	if strings.Contains(r.body, "hidden") {
		t.Errorf("a stranger receives %s", r.body)
	}
}

package informer

import (
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
)

func TestAComparerFindsAClusterThatHasMovedBelowAPath(t *testing.T) {
	asked := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.NotFound(w, r)
	}))
	defer server.Close()
	before, err := newConnection(&rest.Config{Host: server.URL, BearerToken: "own"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer before.close()
	now, err := newEndpoint(&rest.Config{Host: server.URL + "/clusters/one", BearerToken: "own"}, "")
	if err != nil {
		t.Fatal(err)
	}
	before.replace(now)
	c := &Cluster{connection: before}
	for _, token := range []string{"", "caller"} {
		comparer, done, err := c.comparer(helmtrail.Credentials{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		_, err = comparer.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
		done()
		want := "Bearer own"
		if token != "" {
			want = "Bearer " + token
		}
		if r := <-asked; r.URL.Path != "/clusters/one/api/v1/namespaces/shop/pods/web" || r.Header.Get("Authorization") != want || !apierrors.IsNotFound(err) {
			t.Errorf("token %q: %s was requested with %q: %v", token, r.URL.Path, r.Header.Get("Authorization"), err)
		}
	}
}

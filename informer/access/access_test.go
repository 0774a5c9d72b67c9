package access_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	rbacv1client "k8s.io/client-go/kubernetes/typed/rbac/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/access"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// counter counts the reviews that reach the API server.
type counter struct {
	next   http.RoundTripper
	tokens *atomic.Int64
	rights *atomic.Int64
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		c.tokens.Add(1)
	case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
		c.rights.Add(1)
	}
	return c.next.RoundTrip(r)
}

// reviewer returns a Reviewer of the test cluster and counts what it asks.
func reviewer(t *testing.T) (r *access.Reviewer, tokens, rights *atomic.Int64) {
	t.Helper()
	tokens, rights = new(atomic.Int64), new(atomic.Int64)
	config := clustertest.Config(t)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, tokens, rights} })
	authentication, err := authenticationv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	authorization, err := authorizationv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return access.New(authentication, authorization), tokens, rights
}

func token(t *testing.T, namespace string) helmtrail.Credentials {
	t.Helper()
	accounts := clustertest.Core(t).ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "caller"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	request, err := accounts.CreateToken(t.Context(), "caller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return helmtrail.Credentials{Token: request.Status.Token}
}

func TestManyCallersWithOneTokenAskOnce(t *testing.T) {
	namespace := clustertest.Namespace(t)
	r, tokens, rights := reviewer(t)
	credentials := token(t, namespace)
	right := helmtrail.Right{Verb: "get", Group: "helmtrail.dev", Resource: "releases", Namespace: namespace}
	user := "system:serviceaccount:" + namespace + ":caller"
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			err := r.Allowed(t.Context(), credentials, right)
			denied, ok := errors.AsType[*helmtrail.ForbiddenError](err)
			if !ok || denied.User != user || denied.Right != right {
				t.Errorf("got %v, want: %s may not %s", err, user, right)
			}
		})
	}
	asking.Wait()
	if tokens.Load() != 1 || rights.Load() != 1 {
		t.Errorf("%d token reviews and %d access reviews, want one each", tokens.Load(), rights.Load())
	}
}

// Callers who try unknown tokens are limited; known tokens are not.
func TestUnknownTokensAreLimited(t *testing.T) {
	r, tokens, _ := reviewer(t)
	credentials := token(t, clustertest.Namespace(t))
	if _, err := r.User(t.Context(), credentials); err != nil {
		t.Fatal(err)
	}
	var trying sync.WaitGroup
	var refused, limited atomic.Int64
	for n := range 20 {
		trying.Go(func() {
			for i := range 100 {
				_, err := r.User(t.Context(), helmtrail.Credentials{Token: fmt.Sprintf("guess-%d-%d", n, i)})
				switch {
				case errors.Is(err, helmtrail.ErrUnauthenticated):
					refused.Add(1)
				case errors.Is(err, helmtrail.ErrTooManyTokens):
					limited.Add(1)
				default:
					t.Errorf("a guessed token got %v", err)
				}
			}
		})
	}
	trying.Wait()
	if limited.Load() == 0 || tokens.Load() != refused.Load()+1 {
		t.Errorf("of 2000 guesses %d were reviewed and %d were not; %d reviews were made", refused.Load(), limited.Load(), tokens.Load())
	}
	if _, err := r.User(t.Context(), credentials); err != nil {
		t.Errorf("a known token: %v", err)
	}
	if _, err := r.User(t.Context(), helmtrail.Credentials{}); !errors.Is(err, helmtrail.ErrUnauthenticated) {
		t.Errorf("no token: %v", err)
	}
}

// What a session stores about its starter is enough to review their permissions,
// including those they have through groups. pods/log is not pods.
func TestAUserHasThePermissionsOfTheirToken(t *testing.T) {
	namespace := clustertest.Namespace(t)
	r, _, rights := reviewer(t)
	credentials := token(t, namespace)
	roles, err := rbacv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := roles.Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "logs"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "logs"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "logs"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	user, err := r.User(t.Context(), credentials)
	if err != nil {
		t.Fatal(err)
	}
	nobody := helmtrail.User{Name: user.Name}
	for _, resource := range []string{helmtrail.LogsResource, "pods"} {
		right := helmtrail.Right{Verb: "get", Resource: resource, Namespace: namespace}
		byToken, byName := r.Allowed(t.Context(), credentials, right), r.May(t.Context(), user, right)
		if (byToken == nil) != (resource == helmtrail.LogsResource) || (byName == nil) != (byToken == nil) {
			t.Errorf("get %s: %v by token, %v by name and groups", resource, byToken, byName)
		}
		if _, denied := errors.AsType[*helmtrail.ForbiddenError](r.May(t.Context(), nobody, right)); !denied {
			t.Errorf("get %s is allowed without the group", resource)
		}
	}
	asked := rights.Load()
	for range 10 {
		_ = r.May(t.Context(), user, helmtrail.Right{Verb: "get", Resource: "pods", Namespace: namespace})
	}
	if n := rights.Load() - asked; n != 0 {
		t.Errorf("ten questions with cached answers caused %d reviews", n)
	}
}

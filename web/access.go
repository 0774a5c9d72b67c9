package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/stream"
)

// Access answers who the callers of one cluster are and what they may do
// there. Its methods may be called concurrently and may ask the API server.
type Access interface {
	// User returns whose credentials these are. It fails with
	// stream.ErrUnauthenticated when they are nobody's, with
	// stream.ErrTooManyTokens when they may not be tried now, and with
	// stream.ErrNotReviewed when that could not be found out.
	User(ctx context.Context, credentials stream.Credentials) (stream.User, error)
	// Allowed returns nil if the caller has the right, *stream.ForbiddenError
	// if not, and otherwise fails like User.
	Allowed(ctx context.Context, credentials stream.Credentials, right stream.Right) error
}

// need is what a caller needs to use a route, when callers have to sign in.
type need string

const (
	// needNothing lets everybody pass. The route must tell nothing of a cluster.
	needNothing need = "nothing"
	// needUser asks for somebody who is known in one of the clusters.
	needUser need = "user"
	// needMetrics asks for the right by which Kubernetes' own components guard theirs.
	needMetrics need = "metrics"
	// needUpload asks for the right to add charts.
	needUpload need = "upload"
	// needGet asks for the right to see the releases of the route's namespace.
	needGet need = "get"
	// needList asks for the right to list the releases of the route's
	// namespace. Without one the caller is shown the namespaces that allow it,
	// and there must be one.
	needList need = "list"
	// needTrail is needList for what once was: namespaces count whose releases
	// are all uninstalled.
	needTrail need = "trail"
	// needCreate, needUpdate and needDelete ask for what helm itself cannot do
	// without, so that it need not be run to be refused.
	needCreate need = "create"
	needUpdate need = "update"
	needDelete need = "delete"
)

const (
	// group is the API group of resources that exist for RBAC alone.
	group = "helmtrail.dev"
	// recheckAfter is how long a stream relies on a right. Access keeps its
	// answers about as long.
	recheckAfter = 10 * time.Second
	// unansweredLimit is how long a stream that is open goes on while it cannot
	// be found out whether its reader still may read it.
	unansweredLimit = 5 * time.Minute
	// namespacesAtOnce is how many namespaces are asked about at the same time.
	namespacesAtOnce = 16
)

// rights are those of which one is enough. Whoever may read the Secrets
// themselves may see what is in them.
func (n need) rights(namespace string) []stream.Right {
	onSecrets := func(verb string) stream.Right {
		return stream.Right{Verb: verb, Resource: "secrets", Namespace: namespace}
	}
	switch n {
	case needGet, needList:
		return []stream.Right{{Verb: string(n), Group: group, Resource: "releases", Namespace: namespace}, onSecrets(string(n))}
	case needCreate, needUpdate, needDelete:
		return []stream.Right{onSecrets(string(n))}
	case needUpload:
		return []stream.Right{{Verb: "create", Group: group, Resource: "charts", Namespace: namespace}}
	case needMetrics:
		return []stream.Right{{Verb: "get", Path: "/metrics"}}
	}
	return nil
}

// grant is what a caller was granted for one request. A nil grant is that of a
// server without login, where everything is allowed.
type grant struct {
	access      Access
	credentials stream.Credentials
	user        stream.User
	need        need
	namespace   string
	// checked is when the right was last confirmed, asked when it was last asked for.
	checked, asked time.Time
}

// name is the caller's, "" on a server without login.
func (g *grant) name() string {
	if g == nil {
		return ""
	}
	return g.user.Name
}

const grantKey = "grant"

// grantOf returns the grant of a request that has been admitted.
func grantOf(c *gin.Context) *grant {
	g, _ := c.Get(grantKey)
	known, _ := g.(*grant)
	return known
}

// admitted is a route's handler behind the question whether the caller has
// what the route needs.
func (s *Server) admitted(r route) handler {
	return func(c *gin.Context) error {
		if s.signIn && r.need != needNothing {
			g, err := s.admit(c, r.need)
			if err != nil {
				return err
			}
			c.Set(grantKey, g)
		}
		// Which namespaces are watched is not for everybody to know.
		if cluster := s.clusters.get(c.Param("cluster")); cluster != nil {
			if err := cluster.watches(c.Param("namespace")); err != nil {
				return err
			}
		}
		return r.handle(c)
	}
}

// admit grants a request what it needs, or fails.
func (s *Server) admit(c *gin.Context, n need) (*grant, error) {
	if n == needUser {
		return s.admitAnybody(c)
	}
	cluster, err := s.defaultCluster()
	if c.Param("cluster") != "" {
		cluster, err = s.cluster(c)
	}
	if err != nil {
		return nil, err
	}
	namespace := c.Param("namespace")
	if n == needUpload {
		namespace = c.Query("namespace")
	}
	g := &grant{access: cluster.Access, credentials: s.credentials(c.Request, cluster.ID), need: n, namespace: namespace}
	if g.user, err = g.access.User(c.Request.Context(), g.credentials); err != nil {
		return nil, notSignedIn(c, cluster.ID, err)
	}
	if (n == needList || n == needTrail) && namespace == "" {
		_, err = s.visible(c.Request.Context(), cluster, g)
	} else {
		err = g.allows(c.Request.Context(), n, namespace)
	}
	g.checked, g.asked = time.Now(), time.Now()
	return g, err
}

// admitAnybody admits whoever is known in a cluster, the default one first.
func (s *Server) admitAnybody(c *gin.Context) (*grant, error) {
	clusters := s.defaultFirst()
	if len(clusters) == 0 {
		return nil, errNoDefault
	}
	var failure error
	for _, cluster := range clusters {
		credentials := s.credentialsAnywhere(c.Request, cluster.ID)
		user, err := cluster.Access.User(c.Request.Context(), credentials)
		if err == nil {
			return &grant{access: cluster.Access, credentials: credentials, user: user, need: needUser, checked: time.Now(), asked: time.Now()}, nil
		}
		if failure == nil || errors.Is(failure, stream.ErrUnauthenticated) {
			failure = err
		}
	}
	return nil, notSignedIn(c, clusters[0].ID, failure)
}

// known tells whether the caller is known in a cluster.
func (s *Server) known(c *gin.Context, cluster *watched) bool {
	if cluster.Access == nil {
		return true
	}
	_, err := cluster.Access.User(c.Request.Context(), s.credentialsAnywhere(c.Request, cluster.ID))
	return err == nil
}

// allows returns nil if the caller has one of the rights, else why not.
func (g *grant) allows(ctx context.Context, n need, namespace string) error {
	if g == nil {
		return nil
	}
	var first error
	for _, right := range n.rights(namespace) {
		err := g.access.Allowed(ctx, g.credentials, right)
		if err == nil {
			return nil
		}
		if _, denied := errors.AsType[*stream.ForbiddenError](err); !denied {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// still returns nil as long as what the request was granted may be relied on,
// which it asks for anew now and then. Streams ask before they send.
func (g *grant) still(ctx context.Context) error {
	if g == nil || time.Since(g.asked) < recheckAfter {
		return nil
	}
	var err error
	if g.need == needUser || (g.need == needList || g.need == needTrail) && g.namespace == "" {
		// What a cluster's stream shows is decided for each namespace.
		_, err = g.access.User(ctx, g.credentials)
	} else {
		err = g.allows(ctx, g.need, g.namespace)
	}
	g.asked = time.Now()
	if err == nil {
		g.checked = g.asked
		return nil
	}
	if !refuses(err) && time.Since(g.checked) < unansweredLimit {
		return nil
	}
	return err
}

// viewer decides what the caller is shown of a cluster's objects.
func (g *grant) viewer() stream.Viewer {
	if g == nil {
		return nil
	}
	return func(ctx context.Context, right stream.Right) error {
		return g.access.Allowed(ctx, g.credentials, right)
	}
}

// refuses tells a refusal from a question that was not answered.
func refuses(err error) bool {
	_, denied := errors.AsType[*stream.ForbiddenError](err)
	return denied || errors.Is(err, stream.ErrUnauthenticated)
}

// visible returns the namespaces of the cluster whose releases the caller may
// list, nil for all. It fails when there are none.
func (s *Server) visible(ctx context.Context, cluster *watched, g *grant) (map[string]bool, error) {
	everywhere := g.allows(ctx, needList, "")
	if everywhere == nil || !refuses(everywhere) {
		return nil, everywhere
	}
	namespaces := cluster.namespaces()
	if g.need == needTrail {
		namespaces = s.namespaces(cluster)
	}
	allowed := make([]bool, len(namespaces))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(namespacesAtOnce)
	for i, namespace := range namespaces {
		asking.Go(func() error {
			err := g.allows(ctx, needList, namespace)
			allowed[i] = err == nil
			if err != nil && refuses(err) {
				err = nil
			}
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	if !slices.Contains(allowed, true) {
		return nil, everywhere
	}
	visible := map[string]bool{}
	for i, namespace := range namespaces {
		if allowed[i] {
			visible[namespace] = true
		}
	}
	return visible, nil
}

// namespaces are those that have releases, sorted.
func (w *watched) namespaces() []string {
	var names []string
	for _, r := range w.latest().revisions {
		if len(names) == 0 || names[len(names)-1] != r.Namespace {
			names = append(names, r.Namespace)
		}
	}
	return names
}

// credentials are those that a request brings for a cluster: those of its
// header, else those of the login.
func (s *Server) credentials(r *http.Request, cluster string) stream.Credentials {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return stream.Credentials{}
		}
		return stream.Credentials{Token: strings.TrimSpace(token)}
	}
	if cookie, err := r.Cookie(cookieName(cluster)); err == nil {
		return stream.Credentials{Token: cookie.Value}
	}
	return stream.Credentials{}
}

// credentialsAnywhere are those for a cluster that the request does not name. A
// header's token is then for the default one, and shown to no other.
func (s *Server) credentialsAnywhere(r *http.Request, cluster string) stream.Credentials {
	if r.Header.Get("Authorization") != "" && cluster != s.defaultID() {
		return stream.Credentials{}
	}
	return s.credentials(r, cluster)
}

// mayReveal is the MayReveal of a server with login.
func (s *Server) mayReveal(r *http.Request, release stream.ReleaseRef) error {
	cluster, err := s.served(release.Cluster)
	if err != nil {
		return err
	}
	right := stream.Right{Verb: "get", Resource: "secrets", Namespace: release.Namespace}
	return cluster.Access.Allowed(r.Context(), s.credentials(r, cluster.ID), right)
}

// notSignedIn is why a caller is not known.
func notSignedIn(c *gin.Context, cluster string, err error) error {
	if !errors.Is(err, stream.ErrUnauthenticated) {
		return err
	}
	c.Header("WWW-Authenticate", `Bearer realm="`+cluster+`"`)
	return &apiError{
		status: http.StatusUnauthorized, code: codeUnauthenticated,
		message: "Sign in to cluster " + cluster + ": the token is missing, wrong or expired.",
		details: clusterDetails{cluster},
	}
}

// clusterDetails names the cluster that an error is about.
type clusterDetails struct {
	Cluster string `json:"cluster"`
}

// forbidden is what a caller sees of a missing right.
func forbidden(e *stream.ForbiddenError) *apiError {
	return &apiError{
		status: http.StatusForbidden, code: codeForbidden, message: e.Error(),
		details: struct {
			Verb      string `json:"verb"`
			Resource  string `json:"resource"`
			Group     string `json:"group,omitempty"`
			Namespace string `json:"namespace,omitempty"`
		}{e.Right.Verb, e.Right.Resource, e.Right.Group, e.Right.Namespace},
	}
}

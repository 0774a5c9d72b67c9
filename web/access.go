package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
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
	// ask asks anew for what was granted.
	ask func(context.Context) error
	// lists is a namespace whose releases the caller could list the last time
	// that it was asked which ones those are.
	lists string
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
	g, err := s.identify(c, cluster)
	if err != nil {
		return nil, err
	}
	g.need = n
	g.ask = func(ctx context.Context) error { return g.allows(ctx, n, namespace) }
	if (n == needList || n == needTrail) && namespace == "" {
		g.ask = func(ctx context.Context) error { return s.listsSome(ctx, cluster, g) }
	}
	return g, g.ask(c.Request.Context())
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
	err := g.ask(ctx)
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

// relyOn has what the request was granted include another right, on which its
// answer relies from now on.
func (g *grant) relyOn(n need, namespace string) {
	if g == nil {
		return
	}
	granted := g.ask
	g.ask = func(ctx context.Context) error {
		if err := granted(ctx); err != nil {
			return err
		}
		return g.allows(ctx, n, namespace)
	}
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

// listsSome fails unless there is a namespace whose releases the caller may
// list. Where they could a moment ago they mostly still can: one question then.
func (s *Server) listsSome(ctx context.Context, cluster *watched, g *grant) error {
	if g.lists != "" && g.allows(ctx, needList, g.lists) == nil {
		return nil
	}
	visible, err := s.visible(ctx, cluster, g)
	g.lists = ""
	for namespace := range visible {
		g.lists = namespace
		break
	}
	return err
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

// mayReveal is the MayReveal of a server with login.
func (s *Server) mayReveal(r *http.Request, release stream.ReleaseRef) error {
	cluster, err := s.served(release.Cluster)
	if err != nil {
		return err
	}
	right := stream.Right{Verb: "get", Resource: "secrets", Namespace: release.Namespace}
	return cluster.Access.Allowed(r.Context(), s.credentials(r, cluster.ID), right)
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
			User      string `json:"user"`
			Verb      string `json:"verb"`
			Resource  string `json:"resource"`
			Group     string `json:"group,omitempty"`
			Namespace string `json:"namespace,omitempty"`
		}{e.User, e.Right.Verb, e.Right.Resource, e.Right.Group, e.Right.Namespace},
	}
}

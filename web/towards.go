package web

import (
	"context"

	"github.com/gin-gonic/gin"
)

// towards is a request as it stands towards another cluster than its own, after
// the caller was found to have there, in that namespace, what the route needs. A
// token comes from the login for that cluster: the one in a header is for the
// request's own cluster and shown to no other.
func (s *Server) towards(c *gin.Context, id, namespace string) (*gin.Context, error) {
	cluster, err := s.served(id)
	if err != nil {
		return nil, err
	}
	if !s.signIn {
		return c, cluster.watches(namespace)
	}
	other := c.Copy()
	other.Request = c.Request.Clone(c.Request.Context())
	other.Request.Header.Del("Authorization")
	credentials := s.credentials(other.Request, id)
	user, err := cluster.Access.User(c.Request.Context(), credentials)
	if err != nil {
		return nil, notSignedIn(c, id, err)
	}
	g := newGrant(cluster, credentials, user)
	g.need = needGet
	g.ask = func(ctx context.Context) error { return g.allows(ctx, needGet, namespace) }
	if err := g.ask(c.Request.Context()); err != nil {
		return nil, err
	}
	if err := cluster.watches(namespace); err != nil {
		return nil, err
	}
	other.Set(grantKey, g)
	return other, nil
}

// refuseWithSession refuses parameters that have no meaning for what a dry run
// has rendered.
func refuseWithSession(c *gin.Context) error {
	for _, name := range []string{"to", "toLineage", "all", "reveal"} {
		if c.Query(name) != "" && c.Query(name) != "false" {
			return badRequest(name, name+" and toSession do not go together.")
		}
	}
	return nil
}

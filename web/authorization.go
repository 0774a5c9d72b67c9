package web

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// admitted wraps a route's handler in its authorization check.
func (s *Server) admitted(r route) handler {
	return func(c *gin.Context) error {
		if s.signIn && !strings.HasPrefix(r.path, "/helm") {
			// What is not a page depends on who asks.
			c.Writer.Header().Add("Vary", "Cookie, Authorization")
		}
		if s.signIn && r.need != authz.Nothing {
			caller, err := s.admit(c, r.need)
			if err != nil {
				return err
			}
			authz.SetCaller(c, caller)
		}
		// Check this after the permission: not everybody may learn which
		// namespaces are watched.
		if cluster := s.clusters.get(c.Param("cluster")); cluster != nil {
			if err := cluster.CheckWatched(c.Param("namespace")); err != nil {
				return err
			}
		}
		if err := checkQuery(c, r.query); err != nil {
			return err
		}
		return r.handle(c)
	}
}

// checkQuery returns an error unless the query is well-formed and has only these
// parameters.
func checkQuery(c *gin.Context, allowed []string) error {
	if slices.Equal(allowed, anyQuery) {
		return nil
	}
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return httpapi.BadRequest("The query is not valid.")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(allowed, name) {
			return httpapi.UnknownParameter(name, allowed)
		}
	}
	return nil
}

// admit returns the caller of a request if they have what it needs.
func (s *Server) admit(c *gin.Context, need authz.Need) (*authz.Caller, error) {
	id, namespace := c.Param("cluster"), c.Param("namespace")
	if need == authz.Upload || need == authz.Charts {
		id, namespace = c.Query("cluster"), c.Query("namespace")
	}
	if need == authz.KnownUser || need == authz.Charts && id == "" && namespace == "" {
		return s.callers.admitAnybody(c)
	}
	cluster, err := s.clusters.defaultCluster()
	if id != "" {
		cluster, err = s.clusters.served(id)
	}
	if err != nil {
		return nil, err
	}
	caller, err := s.callers.identify(c, cluster)
	if err != nil {
		return nil, err
	}
	ctx := c.Request.Context()
	switch {
	case need == authz.Charts:
		return caller, nil
	case need == authz.List && namespace == "":
		return caller, caller.RequireSome(ctx, func() []string { return cluster.Latest().Namespaces() })
	case need == authz.Trail && namespace == "":
		return caller, caller.RequireSome(ctx, func() []string { return s.history.Namespaces(cluster.Cluster) })
	}
	return caller, caller.Require(ctx, need, namespace)
}

// mayReveal returns nil if the caller may see the secrets of a release.
func (s *Server) mayReveal(ctx context.Context, caller *authz.Caller, release helmtrail.ReleaseRef) error {
	if s.options.MayReveal != nil {
		return s.options.MayReveal(release)
	}
	return caller.MayReadSecrets(ctx, release.Namespace)
}

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/stream"
)

// identifyWithin is how long one of several clusters may take to tell who a
// caller is.
const identifyWithin = 3 * time.Second

// identify grants a request that its caller is known in the cluster, or fails.
func (s *Server) identify(c *gin.Context, cluster *watched) (*grant, error) {
	credentials := s.credentials(c.Request, cluster.ID)
	user, err := cluster.Access.User(c.Request.Context(), credentials)
	if err != nil {
		return nil, notSignedIn(c, cluster.ID, err)
	}
	return newGrant(cluster, credentials, user), nil
}

// newGrant grants that the caller is known, from now on.
func newGrant(cluster *watched, credentials stream.Credentials, user stream.User) *grant {
	g := &grant{access: cluster.Access, credentials: credentials, user: user, checked: time.Now(), asked: time.Now()}
	g.ask = func(ctx context.Context) error {
		_, err := g.access.User(ctx, g.credentials)
		return err
	}
	return g
}

// admitAnybody admits whoever is known in a cluster, the default one first.
func (s *Server) admitAnybody(c *gin.Context) (*grant, error) {
	identities := s.identities(c)
	if len(identities) == 0 {
		return nil, errNoDefault
	}
	var failure error
	for _, i := range identities {
		if i.err == nil {
			return newGrant(i.cluster, i.credentials, i.user), nil
		}
		if failure == nil || errors.Is(failure, stream.ErrUnauthenticated) {
			failure = i.err
		}
	}
	return nil, notSignedIn(c, identities[0].cluster.ID, failure)
}

// identity is who a caller is in one cluster.
type identity struct {
	cluster     *watched
	credentials stream.Credentials
	user        stream.User
	err         error // as of Access.User
}

const identitiesKey = "identities"

// identities asks all clusters at once, and once for each request, who the
// caller is, the default one first. Where there are several, one that is slow to
// answer has not answered, so that it does not hold up the others.
func (s *Server) identities(c *gin.Context) []identity {
	if asked, ok := c.Get(identitiesKey); ok {
		return asked.([]identity)
	}
	clusters := s.defaultFirst()
	r, ctx := c.Request, c.Request.Context()
	if len(clusters) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, identifyWithin)
		defer cancel()
	}
	list := make([]identity, len(clusters))
	var asking errgroup.Group
	for n, cluster := range clusters {
		asking.Go(func() error {
			i := identity{cluster: cluster, credentials: s.credentialsAnywhere(r, cluster.ID)}
			if i.user, i.err = cluster.Access.User(ctx, i.credentials); errors.Is(i.err, context.DeadlineExceeded) {
				i.err = fmt.Errorf("%w: cluster %s is slow to answer", stream.ErrNotReviewed, cluster.ID)
			}
			list[n] = i
			return nil
		})
	}
	_ = asking.Wait() // each cluster has its own error
	c.Set(identitiesKey, list)
	return list
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
	if !isConsole(r) {
		return stream.Credentials{}
	}
	cookie, err := r.Cookie(consoleCookie)
	if err != nil {
		return stream.Credentials{}
	}
	return stream.Credentials{Token: cookie.Value}
}

// credentialsAnywhere are those for a cluster that the request does not name. A
// header's token is then for the default one, and shown to no other.
func (s *Server) credentialsAnywhere(r *http.Request, cluster string) stream.Credentials {
	if r.Header.Get("Authorization") != "" && cluster != s.defaultID() {
		return stream.Credentials{}
	}
	return s.credentials(r, cluster)
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

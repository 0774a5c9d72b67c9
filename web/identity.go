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

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// identifyWithin is the time for one of several clusters to identify a caller.
const identifyWithin = 3 * time.Second

// callers identifies the senders of requests in each cluster.
type callers struct {
	clusters *clusterSet
	signIn   bool
}

// identify returns the caller of a request as the cluster knows them. It fails
// when the cluster does not know them.
func (all *callers) identify(c *gin.Context, cluster *served) (*authz.Caller, error) {
	return recognize(c, cluster, credentialsOf(c.Request, cluster.ID))
}

// identifyIn is identify for a cluster other than the request's own. It uses the
// token of the login to that cluster. A token in the header is for the request's
// own cluster and is never sent to another.
func (all *callers) identifyIn(c *gin.Context, id string) (*authz.Caller, error) {
	cluster, err := all.clusters.served(id)
	if err != nil {
		return nil, err
	}
	if !all.signIn {
		return authz.Anyone(id, c.Request.RemoteAddr), nil
	}
	return recognize(c, cluster, cookieCredentials(c.Request, id))
}

// identifyConsole is identify for a request of the console's contract.
func (all *callers) identifyConsole(c *gin.Context, id string) (*authz.Caller, error) {
	cluster, err := all.clusters.served(id)
	if err != nil {
		return nil, err
	}
	if !all.signIn {
		return authz.Anyone(id, c.Request.RemoteAddr), nil
	}
	return all.identify(c, cluster)
}

// recognize returns the caller with these credentials.
func recognize(c *gin.Context, cluster *served, credentials helmtrail.Credentials) (*authz.Caller, error) {
	user, err := cluster.access.User(c.Request.Context(), credentials)
	if err != nil {
		return nil, notSignedIn(c, cluster.ID, err)
	}
	return authz.Known(cluster.ID, c.Request.RemoteAddr, cluster.access, credentials, user), nil
}

// admitAnybody returns the caller as identified by the first cluster that knows
// them, starting with the default cluster.
func (all *callers) admitAnybody(c *gin.Context) (*authz.Caller, error) {
	identities := all.identities(c)
	if len(identities) == 0 {
		return nil, errNoDefault
	}
	var failure error
	for _, i := range identities {
		if i.err == nil {
			return authz.Known(i.cluster.ID, c.Request.RemoteAddr, i.cluster.access, i.credentials, i.user), nil
		}
		if failure == nil || errors.Is(failure, helmtrail.ErrUnauthenticated) {
			failure = i.err
		}
	}
	return nil, notSignedIn(c, identities[0].cluster.ID, failure)
}

// identity is who a caller is in one cluster.
type identity struct {
	cluster     *served
	credentials helmtrail.Credentials
	user        helmtrail.User
	err         error // from Access.User
}

const identitiesKey = "identities"

// identities returns the caller's identity in each cluster, the default one
// first. It asks all clusters concurrently, and once per request. If there are
// several, a slow cluster is treated as one that did not answer, so that it does
// not delay the others.
func (all *callers) identities(c *gin.Context) []identity {
	if asked, ok := c.Get(identitiesKey); ok {
		return asked.([]identity)
	}
	clusters := all.clusters.defaultFirst()
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
			i := identity{cluster: cluster, credentials: all.credentialsAnywhere(r, cluster.ID)}
			if i.user, i.err = cluster.access.User(ctx, i.credentials); errors.Is(i.err, context.DeadlineExceeded) {
				i.err = fmt.Errorf("%w: cluster %s is slow to answer", helmtrail.ErrNotReviewed, cluster.ID)
			}
			list[n] = i
			return nil
		})
	}
	_ = asking.Wait() // Each identity has its own error.
	c.Set(identitiesKey, list)
	return list
}

// credentialsOf returns the request's credentials for a cluster: from the header,
// otherwise from the login.
func credentialsOf(r *http.Request, cluster string) helmtrail.Credentials {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return helmtrail.Credentials{}
		}
		return helmtrail.Credentials{Token: strings.TrimSpace(token)}
	}
	return cookieCredentials(r, cluster)
}

// cookieCredentials returns the credentials of the login to a cluster or, in the
// console's contract, of the console's own login.
func cookieCredentials(r *http.Request, cluster string) helmtrail.Credentials {
	names := cookieNames(cluster)
	if console.IsRequest(r) {
		names = append(names, console.Cookie)
	}
	for _, name := range names {
		if cookie, err := r.Cookie(name); err == nil {
			return helmtrail.Credentials{Token: cookie.Value}
		}
	}
	return helmtrail.Credentials{}
}

// credentialsAnywhere returns the credentials for a cluster if the request names
// none. A token in the header is then for the default cluster and is never sent
// to another.
func (all *callers) credentialsAnywhere(r *http.Request, cluster string) helmtrail.Credentials {
	if r.Header.Get("Authorization") != "" && cluster != all.clusters.defaultID() {
		return helmtrail.Credentials{}
	}
	return credentialsOf(r, cluster)
}

// notSignedIn converts an error of Access.User to a response.
func notSignedIn(c *gin.Context, cluster string, err error) error {
	if !errors.Is(err, helmtrail.ErrUnauthenticated) {
		return err
	}
	c.Header("WWW-Authenticate", `Bearer realm="`+cluster+`"`)
	return &httpapi.Error{
		Status: http.StatusUnauthorized, Code: httpapi.CodeUnauthenticated,
		Message: "Sign in to cluster " + cluster + ": the token is missing, wrong or expired.",
		Details: clusterDetails{cluster},
	}
}

// clusterDetails names the cluster that an error is about.
type clusterDetails struct {
	Cluster string `json:"cluster"`
}

package web

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// maxToken is the maximum length of a token, in bytes: it must fit into a
// browser's cookie together with the name and attributes.
const maxToken = 3800

// tokenPattern matches a bearer token (RFC 6750, section 2.1).
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9\-._~+/]+=*$`)

// cookieName returns the name of the cookie with a cluster's token. A token is
// only sent to the API server of its own cluster.
func cookieName(cluster string) string { return "helmtrail-" + cluster }

// hostPrefix and securePrefix begin the names of cookies that a browser takes only
// over https, and the first only from this host and for all its paths, so that no
// other server of the domain can set them (RFC 6265bis, section 4.1.3).
const hostPrefix, securePrefix = "__Host-", "__Secure-"

// cookieNames returns the names that a cluster's cookie may have, the best
// protected one first.
func cookieNames(cluster string) []string {
	name := cookieName(cluster)
	return []string{hostPrefix + name, securePrefix + name, name}
}

type loginBody struct {
	Cluster string `json:"cluster"`
	Token   string `json:"token"`
}

// signedIn is a caller's identity in one cluster.
type signedIn struct {
	ID string `json:"id"`
	// User is null if the caller is not signed in.
	User *string `json:"user"`
	// Expires is the token's own expiry; null if it has none.
	Expires *time.Time `json:"expires"`
}

type whoAmI struct {
	// Auth is "none" on a server without login, otherwise "kubernetes".
	Auth     string     `json:"auth"`
	Clusters []signedIn `json:"clusters"`
}

// login checks a token and keeps it in a cookie that scripts cannot read.
func (s *Server) login(c *gin.Context) error {
	var body loginBody
	if err := httpapi.DecodeBody(c, &body); err != nil {
		return err
	}
	if !s.signIn {
		return httpapi.NotFound("This server does not require login.")
	}
	if all := s.clusters.all(); body.Cluster == "" && len(all) == 1 {
		body.Cluster = all[0].ID
	}
	cluster := s.clusters.get(body.Cluster)
	if cluster == nil {
		return httpapi.BadField("cluster", "cluster must be the id of one of the clusters.")
	}
	body.Token = strings.TrimSpace(body.Token)
	if !tokenPattern.MatchString(body.Token) {
		return httpapi.BadField("token", "token must be a bearer token.")
	}
	if len(body.Token) > maxToken {
		return httpapi.BadField("token", "token is too long for a browser's cookie; use it in an Authorization header.")
	}
	credentials := helmtrail.Credentials{Token: body.Token}
	user, err := cluster.access.User(c.Request.Context(), credentials)
	if err != nil {
		refused := notSignedIn(c, body.Cluster, err)
		if at := authz.Expiry(body.Token); errors.Is(err, helmtrail.ErrUnauthenticated) && at != nil && at.Before(time.Now()) {
			refused = expired(body.Cluster, *at)
		}
		return refused
	}
	cookie := s.cookie(c, body.Cluster, body.Token)
	expires := authz.Expiry(body.Token)
	if expires != nil {
		cookie.Expires = *expires
	}
	http.SetCookie(c.Writer, cookie)
	s.logger.Info("signed in", "cluster", body.Cluster, "user", user.Name, "client", c.Request.RemoteAddr)
	httpapi.WriteJSON(c, http.StatusOK, signedIn{body.Cluster, &user.Name, expires})
	return nil
}

// expired returns the error for a token whose own expiry has passed.
func expired(cluster string, at time.Time) *httpapi.Error {
	return &httpapi.Error{
		Status: http.StatusUnauthorized, Code: httpapi.CodeUnauthenticated,
		Message: "The token expired at " + at.Format(time.RFC3339) + ".",
		Details: struct {
			clusterDetails
			Expires time.Time `json:"expires"`
		}{clusterDetails{cluster}, at},
	}
}

// logout removes the cookie of a cluster, or of all.
func (s *Server) logout(c *gin.Context) error {
	only := c.Query("cluster")
	for _, cluster := range s.clusters.all() {
		if only == "" || only == cluster.ID {
			s.removeCookies(c, cluster.ID)
		}
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// removeCookies removes a cluster's cookies: the one that a login would set now, and
// those that the request has, which may be from before the server used https.
func (s *Server) removeCookies(c *gin.Context, cluster string) {
	cookie := s.cookie(c, cluster, "")
	cookie.MaxAge = -1
	current, secure := cookie.Name, cookie.Secure
	for _, name := range cookieNames(cluster) {
		if _, err := c.Request.Cookie(name); err != nil && name != current {
			continue
		}
		cookie.Name, cookie.Secure = name, secure || name != cookieName(cluster)
		http.SetCookie(c.Writer, cookie)
	}
}

func (s *Server) cookie(c *gin.Context, cluster, token string) *http.Cookie {
	cookie := &http.Cookie{
		Name: cookieName(cluster), Value: token, Path: s.options.BasePath + "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: encrypted(c.Request),
	}
	switch {
	case !cookie.Secure:
	case cookie.Path == "/":
		cookie.Name = hostPrefix + cookie.Name
	default:
		cookie.Name = securePrefix + cookie.Name
	}
	return cookie
}

// encrypted reports whether the browser uses https, which a proxy may end. Not
// every proxy says so, but the browser does, in the Origin of the page.
func encrypted(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// me answers with the caller's identity in each cluster. A caller who is not
// signed in learns which clusters have a login.
func (s *Server) me(c *gin.Context) error {
	answer := whoAmI{Auth: "none", Clusters: []signedIn{}}
	known := map[string]signedIn{}
	if s.signIn {
		answer.Auth = "kubernetes"
		for _, i := range s.callers.identities(c) {
			switch {
			case i.err == nil:
				known[i.cluster.ID] = signedIn{User: &i.user.Name, Expires: authz.Expiry(i.credentials.Token)}
			case errors.Is(i.err, helmtrail.ErrTooManyTokens) || errors.Is(i.err, context.Canceled):
				return i.err
			case !errors.Is(i.err, helmtrail.ErrUnauthenticated):
				s.logger.Warn("a cluster could not identify a caller", "cluster", i.cluster.ID, "error", i.err)
			}
		}
	}
	for _, cluster := range s.clusters.all() {
		item := known[cluster.ID]
		item.ID = cluster.ID
		answer.Clusters = append(answer.Clusters, item)
	}
	httpapi.WriteJSON(c, http.StatusOK, answer)
	return nil
}

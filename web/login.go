package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// maxToken is how long a token may be to fit into a browser's cookie with its
// name and attributes, in bytes.
const maxToken = 3800

// tokenPattern is what a bearer token may consist of (RFC 6750, section 2.1).
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9\-._~+/]+=*$`)

// cookieName is the cookie that holds a cluster's token: each token goes to
// the API server that it is for and to no other.
func cookieName(cluster string) string { return "helmtrail-" + cluster }

type loginBody struct {
	Cluster string `json:"cluster"`
	Token   string `json:"token"`
}

// signedIn is one cluster as a caller is known there.
type signedIn struct {
	ID string `json:"id"`
	// User is null where the caller is not signed in.
	User *string `json:"user"`
	// Expires is when the token says that it expires; null if it does not say.
	Expires *time.Time `json:"expires"`
}

type whoAmI struct {
	// Auth is none, where nobody has to sign in, or kubernetes.
	Auth     string     `json:"auth"`
	Clusters []signedIn `json:"clusters"`
}

// login checks a token and keeps it in a cookie that scripts cannot read.
func (s *Server) login(c *gin.Context) error {
	var body loginBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	if !s.signIn {
		return &apiError{status: http.StatusNotFound, code: codeNotFound, message: "Nobody has to sign in here."}
	}
	if all := s.clusters.all(); body.Cluster == "" && len(all) == 1 {
		body.Cluster = all[0].ID
	}
	cluster := s.clusters.get(body.Cluster)
	if cluster == nil {
		return badRequest("cluster", "cluster must be the id of one of the clusters.")
	}
	body.Token = strings.TrimSpace(body.Token)
	if !tokenPattern.MatchString(body.Token) {
		return badRequest("token", "token must be a bearer token.")
	}
	if len(body.Token) > maxToken {
		return badRequest("token", "token is too long for a browser's cookie; use it in an Authorization header.")
	}
	credentials := stream.Credentials{Token: body.Token}
	user, err := cluster.Access.User(c.Request.Context(), credentials)
	if err != nil {
		refused := notSignedIn(c, body.Cluster, err)
		if at := expiry(body.Token); errors.Is(err, stream.ErrUnauthenticated) && at != nil && at.Before(time.Now()) {
			refused = expired(body.Cluster, *at)
		}
		return refused
	}
	cookie := s.cookie(c, body.Cluster, body.Token)
	expires := expiry(body.Token)
	if expires != nil {
		cookie.Expires = *expires
	}
	http.SetCookie(c.Writer, cookie)
	s.logger.Info("signed in", "cluster", body.Cluster, "user", user.Name, "client", c.Request.RemoteAddr)
	writeJSON(c, http.StatusOK, signedIn{body.Cluster, &user.Name, expires})
	return nil
}

// expired is why a token was refused that says itself that its time is over.
func expired(cluster string, at time.Time) *apiError {
	return &apiError{
		status: http.StatusUnauthorized, code: codeUnauthenticated,
		message: "The token expired at " + at.Format(time.RFC3339) + ".",
		details: struct {
			clusterDetails
			Expires time.Time `json:"expires"`
		}{clusterDetails{cluster}, at},
	}
}

// logout forgets the token of a cluster, or of all.
func (s *Server) logout(c *gin.Context) error {
	only := c.Query("cluster")
	for _, cluster := range s.clusters.all() {
		if only == "" || only == cluster.ID {
			cookie := s.cookie(c, cluster.ID, "")
			cookie.MaxAge = -1
			http.SetCookie(c.Writer, cookie)
		}
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

func (s *Server) cookie(c *gin.Context, cluster, token string) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(cluster), Value: token, Path: s.options.BasePath + "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: c.Request.TLS != nil || c.GetHeader("X-Forwarded-Proto") == "https",
	}
}

// me tells who the caller is in each cluster. Whoever is not signed in learns
// from it to which clusters one can sign in.
func (s *Server) me(c *gin.Context) error {
	answer := whoAmI{Auth: "none", Clusters: []signedIn{}}
	known := map[string]signedIn{}
	if s.signIn {
		answer.Auth = "kubernetes"
		for _, i := range s.identities(c) {
			switch {
			case i.err == nil:
				known[i.cluster.ID] = signedIn{User: &i.user.Name, Expires: expiry(i.credentials.Token)}
			case errors.Is(i.err, stream.ErrTooManyTokens) || errors.Is(i.err, context.Canceled):
				return i.err
			case !errors.Is(i.err, stream.ErrUnauthenticated):
				s.logger.Warn("a cluster could not be asked who a caller is", "cluster", i.cluster.ID, "error", i.err)
			}
		}
	}
	for _, cluster := range s.clusters.all() {
		item := known[cluster.ID]
		item.ID = cluster.ID
		answer.Clusters = append(answer.Clusters, item)
	}
	writeJSON(c, http.StatusOK, answer)
	return nil
}

// expiry is when a token says that it expires, nil if it does not say. It is
// read from a JSON Web Token, whose signature is the API server's to check.
func expiry(token string) *time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	// Seconds with a fraction, and none at all, are both legal (RFC 7519).
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return nil
	}
	at := time.Unix(int64(claims.Expires), 0).UTC()
	return &at
}

// lend gives an operation the caller's name and credentials. It fails when the
// token expires before the operation must have ended: helm would be left
// without rights in the middle of it.
func (g *grant) lend(request *stream.Request) error {
	if g == nil {
		return nil
	}
	request.User, request.Credentials = g.user, g.credentials
	expires := expiry(g.credentials.Token)
	deadline := time.Now().Add(request.Options.Deadline())
	if expires == nil || expires.After(deadline) {
		return nil
	}
	return &apiError{
		status: http.StatusBadRequest, code: codeTokenExpires,
		message: "The token expires before the operation's deadline, and helm would be stopped in the middle. Sign in anew, or lower deadlineSeconds.",
		details: struct {
			Expires  time.Time `json:"expires"`
			Deadline time.Time `json:"deadline"`
		}{*expires, deadline.UTC()},
	}
}

package authz

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

const (
	// RecheckAfter is how long a stream relies on a review. Access caches reviews
	// for about as long.
	RecheckAfter = 10 * time.Second
	// unansweredLimit is how long an open stream continues while the API server
	// does not answer whether its reader may still read it.
	unansweredLimit = 5 * time.Minute
	// namespacesAtOnce is the number of namespaces that are reviewed concurrently.
	namespacesAtOnce = 16
)

// Caller is the caller of one request as one cluster knows them. On a server
// without login it may do everything. Only Allows may be called concurrently.
type Caller struct {
	// Cluster is the id of the cluster that knows the caller.
	Cluster string
	// User is empty on a server without login.
	User helmtrail.User
	// Credentials are helmtrail's own, which are empty, on a server without
	// login.
	Credentials helmtrail.Credentials
	// Address is where the request came from.
	Address string

	access Access // nil on a server without login
	// namespaces returns the namespaces of the cluster, for List and Trail.
	namespaces func() []string
	// ask repeats the reviews of everything that the request was granted.
	ask func(context.Context) error
	// lists is a namespace whose releases the caller could list at the last review.
	lists string
	// checked is when the permissions were last confirmed, asked when they were last
	// reviewed.
	checked, asked time.Time
}

// Anyone returns the caller of a server without login.
func Anyone(cluster, address string) *Caller { return &Caller{Cluster: cluster, Address: address} }

// Known returns a caller whom the cluster has just identified as the user.
func Known(cluster, address string, access Access, credentials helmtrail.Credentials, user helmtrail.User) *Caller {
	c := &Caller{
		Cluster: cluster, Address: address, User: user, Credentials: credentials,
		access: access, checked: time.Now(), asked: time.Now(),
	}
	c.ask = func(ctx context.Context) error {
		_, err := c.access.User(ctx, c.Credentials)
		return err
	}
	return c
}

const callerKey = "caller"

// SetCaller stores the caller in the request's context.
func SetCaller(c *gin.Context, caller *Caller) { c.Set(callerKey, caller) }

// CallerOf returns the caller of an admitted request.
func CallerOf(c *gin.Context) *Caller {
	known, _ := c.Get(callerKey)
	if caller, ok := known.(*Caller); ok {
		return caller
	}
	return Anyone(c.Param("cluster"), c.Request.RemoteAddr)
}

// Require returns nil if the caller has the need in the namespace. If so, Recheck
// reviews it too.
func (c *Caller) Require(ctx context.Context, need Need, namespace string) error {
	c.ask = func(ctx context.Context) error { return c.Allows(ctx, need, namespace) }
	return c.ask(ctx)
}

// RequireSome returns nil if there is a namespace whose releases the caller may
// list. If so, Recheck reviews that too.
func (c *Caller) RequireSome(ctx context.Context, namespaces func() []string) error {
	c.namespaces, c.ask = namespaces, c.listsSome
	return c.ask(ctx)
}

// AlsoRequire adds a permission on which the response relies, so that Recheck
// reviews it too.
func (c *Caller) AlsoRequire(need Need, namespace string) {
	if c.access == nil {
		return
	}
	granted := c.ask
	c.ask = func(ctx context.Context) error {
		if err := granted(ctx); err != nil {
			return err
		}
		return c.Allows(ctx, need, namespace)
	}
}

// Allows returns nil if the caller has one of the rights of the need, and
// otherwise the error for the first of them.
func (c *Caller) Allows(ctx context.Context, need Need, namespace string) error {
	if c.access == nil {
		return nil
	}
	var first error
	for _, right := range need.rights(namespace) {
		err := c.access.Allowed(ctx, c.Credentials, right)
		if err == nil {
			return nil
		}
		if _, denied := errors.AsType[*helmtrail.ForbiddenError](err); !denied {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Recheck returns nil as long as the request may rely on its permissions. It
// reviews them again from time to time. Streams call it before they send.
func (c *Caller) Recheck(ctx context.Context) error {
	if c.access == nil || time.Since(c.asked) < RecheckAfter {
		return nil
	}
	err := c.ask(ctx)
	c.asked = time.Now()
	if err == nil {
		c.checked = c.asked
		return nil
	}
	if !Refuses(err) && time.Since(c.checked) < unansweredLimit {
		return nil
	}
	return err
}

// Viewer returns the viewer that limits the objects of a cluster to those that
// the caller may see; nil shows all.
func (c *Caller) Viewer() helmtrail.Viewer {
	if c.access == nil {
		return nil
	}
	return func(ctx context.Context, right helmtrail.Right) error {
		return c.access.Allowed(ctx, c.Credentials, right)
	}
}

// errNoLogin is the reason why nobody may read Secrets on a server without login.
var errNoLogin = errors.New("callers do not sign in")

// MayReadSecrets returns nil if the caller has signed in and may read the
// Secrets of a namespace, "" for all.
func (c *Caller) MayReadSecrets(ctx context.Context, namespace string) error {
	if c.access == nil {
		return errNoLogin
	}
	return c.access.Allowed(ctx, c.Credentials, helmtrail.Right{Verb: "get", Resource: "secrets", Namespace: namespace})
}

// Refuses reports whether an error is a refusal. Otherwise the API server did
// not answer.
func Refuses(err error) bool {
	_, denied := errors.AsType[*helmtrail.ForbiddenError](err)
	return denied || errors.Is(err, helmtrail.ErrUnauthenticated)
}

// Undecided reports whether an error leaves open whether the caller has a
// permission.
func Undecided(err error) bool {
	return errors.Is(err, helmtrail.ErrNotReviewed) || errors.Is(err, helmtrail.ErrTooManyTokens) || errors.Is(err, helmtrail.ErrUnauthenticated)
}

// listsSome returns an error unless there is a namespace whose releases the caller may
// list. It first tries the one that was allowed last time.
func (c *Caller) listsSome(ctx context.Context) error {
	if c.lists != "" && c.Allows(ctx, List, c.lists) == nil {
		return nil
	}
	visible, err := c.Visible(ctx)
	c.lists = ""
	for namespace := range visible {
		c.lists = namespace
		break
	}
	return err
}

// Visible returns the namespaces whose releases the caller may list, or nil for all. It
// fails if there are none. RequireSome must have been called.
func (c *Caller) Visible(ctx context.Context) (map[string]bool, error) {
	everywhere := c.Allows(ctx, List, "")
	if everywhere == nil || !Refuses(everywhere) {
		return nil, everywhere
	}
	namespaces := c.namespaces()
	allowed := make([]bool, len(namespaces))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(namespacesAtOnce)
	for i, namespace := range namespaces {
		asking.Go(func() error {
			err := c.Allows(ctx, List, namespace)
			allowed[i] = err == nil
			if err != nil && Refuses(err) {
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

// Lend gives an operation the caller's name and credentials. It fails if the
// token expires before the operation's deadline, because helm would lose its
// permissions halfway.
func (c *Caller) Lend(request *helmtrail.Request) error {
	if c.access == nil {
		return nil
	}
	request.User, request.Credentials = c.User, c.Credentials
	expires := Expiry(c.Credentials.Token)
	deadline := time.Now().Add(request.Options.Deadline())
	if expires == nil || expires.After(deadline) {
		return nil
	}
	return &httpapi.Error{
		Status: http.StatusBadRequest, Code: httpapi.CodeTokenExpires,
		Message: "The token expires before the operation's deadline, so helm could lose its permissions halfway. Sign in again or lower deadlineSeconds.",
		Details: struct {
			Expires  time.Time `json:"expires"`
			Deadline time.Time `json:"deadline"`
		}{*expires, deadline.UTC()},
	}
}

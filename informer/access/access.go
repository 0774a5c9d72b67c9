// Package access asks a cluster's API server who callers are and what they may
// do: TokenReview and SubjectAccessReview, with helmtrail's own account.
//
// Answers, including refusals, are cached for ten seconds under the SHA-256 of the
// token. So a busy page or a thousand streams with one token ask only once in that
// time, and a withdrawn right is noticed after it. Errors are not cached. The cache
// is bounded. Unknown tokens cannot push out known ones, and the rate at which they
// are reviewed is limited.
package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/internal/bounded"
)

const (
	// Life is how long an answer is cached.
	Life = 10 * time.Second
	// knownFor is how long a token counts as known after a good review.
	knownFor = time.Hour
	// reviewTimeout bounds one review by the API server.
	reviewTimeout = 10 * time.Second

	maxUsers   = 10_000
	maxRefused = 10_000
	maxAnswers = 100_000
	// unknownPerSecond and unknownBurst bound the reviews of unknown tokens.
	unknownPerSecond = 50
	unknownBurst     = 200
)

// Reviewer reviews the callers of one cluster. Its methods may be called
// concurrently; they block while they ask the API server.
type Reviewer struct {
	tokens authenticationv1client.TokenReviewInterface
	rights authorizationv1client.SubjectAccessReviewInterface

	users    *bounded.Cache[helmtrail.User]
	refused  *bounded.Cache[struct{}]
	answers  *bounded.Cache[answer]
	known    *bounded.Cache[struct{}]
	unknowns flowcontrol.RateLimiter
	asking   singleflight.Group
}

type answer struct {
	allowed bool
	reason  string
}

// New returns a Reviewer. It makes no request.
func New(tokens authenticationv1client.TokenReviewsGetter, rights authorizationv1client.SubjectAccessReviewsGetter) *Reviewer {
	return &Reviewer{
		tokens: tokens.TokenReviews(), rights: rights.SubjectAccessReviews(),
		users:    bounded.New(bounded.Options[helmtrail.User]{Limit: maxUsers, Life: Life}),
		refused:  bounded.New(bounded.Options[struct{}]{Limit: maxRefused, Life: Life}),
		answers:  bounded.New(bounded.Options[answer]{Limit: maxAnswers, Life: Life}),
		known:    bounded.New(bounded.Options[struct{}]{Limit: maxUsers, Life: knownFor}),
		unknowns: flowcontrol.NewTokenBucketRateLimiter(unknownPerSecond, unknownBurst),
	}
}

// User returns the owner of a token. It fails with [helmtrail.ErrUnauthenticated] if
// the token is invalid, with [helmtrail.ErrTooManyTokens] if too many unknown tokens
// were reviewed lately, and with [helmtrail.ErrNotReviewed] if the API server has not
// answered.
func (r *Reviewer) User(ctx context.Context, credentials helmtrail.Credentials) (helmtrail.User, error) {
	return r.user(ctx, credentials.Token, keyOf(credentials.Token))
}

// Allowed returns nil if the token's owner has the right, and a
// [*helmtrail.ForbiddenError] if not. It also fails like User.
func (r *Reviewer) Allowed(ctx context.Context, credentials helmtrail.Credentials, right helmtrail.Right) error {
	key := keyOf(credentials.Token)
	user, err := r.user(ctx, credentials.Token, key)
	if err != nil {
		return err
	}
	return r.allowed(ctx, user, key, right)
}

// May is Allowed for a user who was identified before, whether or not the token is
// still valid.
func (r *Reviewer) May(ctx context.Context, user helmtrail.User, right helmtrail.Right) error {
	identity, err := json.Marshal(user)
	if err != nil {
		return fmt.Errorf("review the right to %s: %w", right, err)
	}
	return r.allowed(ctx, user, "user\x00"+keyOf(string(identity)), right)
}

func (r *Reviewer) allowed(ctx context.Context, user helmtrail.User, key string, right helmtrail.Right) error {
	key = strings.Join([]string{key, right.Verb, right.Group, right.Resource, right.Namespace, right.Path}, "\x00")
	a, ok := r.answers.Get(key)
	if !ok {
		var err error
		if a, err = once(ctx, &r.asking, key, func(ctx context.Context) (answer, error) { return r.ask(ctx, user, right, key) }); err != nil {
			return err
		}
	}
	if !a.allowed {
		return &helmtrail.ForbiddenError{User: user.Name, Right: right, Reason: a.reason}
	}
	return nil
}

func keyOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return string(sum[:])
}

func (r *Reviewer) user(ctx context.Context, token, key string) (helmtrail.User, error) {
	if token == "" {
		return helmtrail.User{}, helmtrail.ErrUnauthenticated
	}
	if user, ok := r.users.Get(key); ok {
		return user, nil
	}
	if _, ok := r.refused.Get(key); ok {
		return helmtrail.User{}, helmtrail.ErrUnauthenticated
	}
	return once(ctx, &r.asking, key, func(ctx context.Context) (helmtrail.User, error) { return r.review(ctx, token, key) })
}

// review asks the API server for the owner of a token.
func (r *Reviewer) review(ctx context.Context, token, key string) (helmtrail.User, error) {
	if _, ok := r.known.Get(key); !ok && !r.unknowns.TryAccept() {
		return helmtrail.User{}, helmtrail.ErrTooManyTokens
	}
	review, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return helmtrail.User{}, fmt.Errorf("%w: review a token: %w", helmtrail.ErrNotReviewed, err)
	}
	if !review.Status.Authenticated {
		r.refused.Add(key, struct{}{})
		return helmtrail.User{}, helmtrail.ErrUnauthenticated
	}
	info := review.Status.User
	user := helmtrail.User{Name: info.Username, UID: info.UID, Groups: info.Groups}
	for name, values := range info.Extra {
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		user.Extra[name] = values
	}
	r.users.Add(key, user)
	r.known.Add(key, struct{}{})
	return user, nil
}

// ask asks the API server whether a user has a right.
func (r *Reviewer) ask(ctx context.Context, user helmtrail.User, right helmtrail.Right, key string) (answer, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{User: user.Name, UID: user.UID, Groups: user.Groups}
	for name, values := range user.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		spec.Extra[name] = authorizationv1.ExtraValue(values)
	}
	if right.Path != "" {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: right.Path, Verb: right.Verb}
	} else {
		resource, subresource, _ := strings.Cut(right.Resource, "/")
		spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: right.Namespace, Verb: right.Verb, Group: right.Group, Resource: resource, Subresource: subresource,
		}
	}
	review, err := r.rights.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return answer{}, fmt.Errorf("%w: review the right to %s: %w", helmtrail.ErrNotReviewed, right, err)
	}
	a := answer{allowed: review.Status.Allowed && !review.Status.Denied, reason: review.Status.Reason}
	r.answers.Add(key, a)
	return a, nil
}

// once makes concurrent callers with the same key share one request. The request
// does not end with the first caller's context.
func once[V any](ctx context.Context, group *singleflight.Group, key string, ask func(context.Context) (V, error)) (V, error) {
	answered := group.DoChan(key, func() (any, error) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		return ask(asking)
	})
	var none V
	select {
	case result := <-answered:
		if result.Err != nil {
			return none, result.Err
		}
		return result.Val.(V), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

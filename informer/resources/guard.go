package resources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail"
)

const (
	// reviewTimeout bounds the wait for the review of a viewer's rights.
	reviewTimeout = 2 * time.Second
	// reviewAgain is how often a follower reviews the permissions again, so that
	// a granted or withdrawn permission shows without a change of the objects.
	reviewAgain = 10 * time.Second
	// unansweredAgain is the time after which an unanswered review is repeated.
	unansweredAgain = 2 * time.Second
	// unansweredLimit is how long an old answer is used while there is no new one.
	unansweredLimit = 5 * time.Minute
)

// guard is a lister that forbids objects that a viewer may not see, as if
// helmtrail itself could not read them. So no row and no cause can quote them. A
// viewer needs `get` for the objects that a record names, and `list` for their
// dependents and events.
type guard struct {
	lister
	viewer  helmtrail.Viewer
	answers map[helmtrail.Right]answer
}

// answer is the result of a review: the error for a missing permission, or nil.
type answer struct {
	err error
	at  time.Time
}

// guarded limits a lister to what the viewer may see; a nil viewer may see
// everything.
func guarded(l lister, viewer helmtrail.Viewer) *guard {
	return &guard{lister: l, viewer: viewer, answers: map[helmtrail.Right]answer{}}
}

// review reviews the viewer's permissions, once for each kind in a namespace, and
// returns when to repeat that. It blocks for two seconds at most. A permission
// without an answer by then counts as missing, unless the viewer had it a short
// time ago.
func (g *guard) review(ctx context.Context, targets []*target) (again time.Duration) {
	if g.viewer == nil {
		return reviewAgain
	}
	asking, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	var reviews errgroup.Group
	reviews.SetLimit(readsAtATime)
	outcomes := map[helmtrail.Right]*error{}
	for _, t := range targets {
		for _, right := range t.rights() {
			if outcomes[right] == nil {
				outcome := new(error)
				outcomes[right] = outcome
				reviews.Go(func() error {
					*outcome = g.viewer(asking, right)
					return nil
				})
			}
		}
	}
	_ = reviews.Wait() // they return no errors
	again = reviewAgain
	for right, outcome := range outcomes {
		err := *outcome
		if _, denied := errors.AsType[*helmtrail.ForbiddenError](err); err != nil && !denied {
			again = unansweredAgain
			if before, ok := g.answers[right]; ok && time.Since(before.at) < unansweredLimit {
				continue
			}
			err = fmt.Errorf("%w: nobody has said who may %s", errNotYet, right)
		}
		g.answers[right] = answer{err, time.Now()}
	}
	return again
}

// rights returns the permissions that are needed to see everything about a target.
func (t *target) rights() []helmtrail.Right {
	if t.mapping == nil {
		return nil
	}
	rights := []helmtrail.Right{t.place.right("get")}
	for _, p := range t.below {
		rights = append(rights, p.right("list"))
	}
	return rights
}

// right returns the right to do something with the objects of a place.
func (p place) right(verb string) helmtrail.Right {
	return helmtrail.Right{Verb: verb, Group: p.resource.Group, Resource: p.resource.Resource, Namespace: p.namespace}
}

// sees returns nil if the viewer has a permission, else the error.
func (g *guard) sees(right helmtrail.Right) error {
	if g.viewer == nil {
		return nil
	}
	if a, ok := g.answers[right]; ok {
		return a.err
	}
	return errNotYet
}

// indexer implements [lister].
func (g *guard) indexer(p place) (cache.Indexer, error) {
	if err := g.sees(p.right("list")); err != nil {
		return nil, err
	}
	return g.lister.indexer(p)
}

// object implements [lister].
func (g *guard) object(t *target) (runtime.Object, error) {
	if err := g.sees(t.place.right("get")); err != nil {
		return nil, err
	}
	return g.lister.object(t)
}

// endOf implements [lister]. The object method has refused viewers without the
// permission.
func (g *guard) endOf(t *target, since time.Time) (End, string) { return g.lister.endOf(t, since) }

// finalState implements [lister].
func (g *guard) finalState(t *target) runtime.Object {
	if g.sees(t.place.right("get")) != nil {
		return nil
	}
	return g.lister.finalState(t)
}

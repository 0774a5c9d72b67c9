package resources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/stream"
)

const (
	// reviewTimeout bounds the wait for what a viewer may see.
	reviewTimeout = 2 * time.Second
	// reviewAgain is how often a follower asks again, so that a right that was
	// given or withdrawn shows although no object has changed.
	reviewAgain = 10 * time.Second
	// unansweredAgain is how soon it asks again what was not answered.
	unansweredAgain = 2 * time.Second
	// unansweredLimit is how long an answer counts while there is no newer one.
	unansweredLimit = 5 * time.Minute
)

// guard is a sight in which everything is forbidden that a viewer may not see,
// as it would be if helmtrail itself could not read it. So nothing that a row
// or a cause says can come from there. A viewer needs `get` for what a record
// names, and `list` for what that owns and for the events about it.
type guard struct {
	sight
	viewer  stream.Viewer
	answers map[stream.Right]answer
}

// answer is what is known of one right: why the viewer lacks it, or nil, and
// since when.
type answer struct {
	err error
	at  time.Time
}

// guarded limits a sight to what the viewer may see; nil may see everything.
func guarded(s sight, viewer stream.Viewer) *guard {
	return &guard{sight: s, viewer: viewer, answers: map[stream.Right]answer{}}
}

// review finds out what the viewer may see of the targets, one question for
// each kind in a namespace, and returns when that is to be done again. It
// blocks for two seconds at most. What has not been answered by then may not
// be seen, unless it might a short time before.
func (g *guard) review(ctx context.Context, targets []*target) (again time.Duration) {
	if g.viewer == nil {
		return reviewAgain
	}
	asking, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	var reviews errgroup.Group
	reviews.SetLimit(readsAtATime)
	outcomes := map[stream.Right]*error{}
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
	_ = reviews.Wait() // none fails
	again = reviewAgain
	for right, outcome := range outcomes {
		err := *outcome
		if _, denied := errors.AsType[*stream.ForbiddenError](err); err != nil && !denied {
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

// rights are those that are needed to see everything about a target.
func (t *target) rights() []stream.Right {
	if t.mapping == nil {
		return nil
	}
	rights := []stream.Right{t.place.right("get")}
	for _, p := range t.below {
		rights = append(rights, p.right("list"))
	}
	return rights
}

// right is the right to do something with the objects of a place.
func (p place) right(verb string) stream.Right {
	return stream.Right{Verb: verb, Group: p.resource.Group, Resource: p.resource.Resource, Namespace: p.namespace}
}

// sees returns nil if the viewer has a right, else why not.
func (g *guard) sees(right stream.Right) error {
	if g.viewer == nil {
		return nil
	}
	if a, ok := g.answers[right]; ok {
		return a.err
	}
	return errNotYet
}

// at implements [sight].
func (g *guard) at(p place) (cache.Indexer, error) {
	if err := g.sees(p.right("list")); err != nil {
		return nil, err
	}
	return g.sight.at(p)
}

// object implements [sight].
func (g *guard) object(t *target) (runtime.Object, error) {
	if err := g.sees(t.place.right("get")); err != nil {
		return nil, err
	}
	return g.sight.object(t)
}

// last implements [sight].
func (g *guard) last(t *target) runtime.Object {
	if g.sees(t.place.right("get")) != nil {
		return nil
	}
	return g.sight.last(t)
}

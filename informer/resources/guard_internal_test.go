package resources

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
)

// setIn returns a target whose own kind and pods are in a namespace.
func setIn(namespace string) *target {
	t := &target{object: object{gvk: replicaSetKind.GroupVersionKind, namespace: namespace, name: "web"}}
	t.mapTo(&meta.RESTMapping{Resource: setsResource, Scope: meta.RESTScopeNamespace})
	return t
}

// opinion is a viewer whose permission can change.
type opinion struct {
	mu    sync.Mutex
	err   error
	asked atomic.Int64
}

func (o *opinion) set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *opinion) view(_ context.Context, _ helmtrail.Right) error {
	o.asked.Add(1)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func TestOneReviewForEachKindInANamespace(t *testing.T) {
	var o opinion
	g := guarded(placesOnly{}, o.view)
	targets := []*target{setIn("a"), setIn("a"), setIn("b"), setIn("a")}
	if again := g.review(t.Context(), targets); again != reviewAgain {
		t.Errorf("it asks again after %v, want %v", again, reviewAgain)
	}
	// Each namespace asks for the ReplicaSet itself, pods and events.
	if n := o.asked.Load(); n != 6 {
		t.Errorf("%d questions, want 6", n)
	}
}

func TestAnUnansweredReviewHidesTheObject(t *testing.T) {
	o := opinion{err: helmtrail.ErrNotReviewed}
	g, one := guarded(placesOnly{}, o.view), setIn("a")
	if again := g.review(t.Context(), []*target{one}); again != unansweredAgain {
		t.Errorf("it asks again after %v, want %v", again, unansweredAgain)
	}
	if _, err := g.object(one); !errors.Is(err, errNotYet) {
		t.Errorf("an object whose review was never answered: %v, want not yet known", err)
	}
	if row := unknownRow(health.Resource{}, g.sees(one.place.right("get"))); row.Status != health.StatusUnknown || row.Reason != "NotYetKnown" {
		t.Errorf("its row is %+v", row)
	}
	o.set(nil)
	g.review(t.Context(), []*target{one})
	if err := g.sees(one.place.right("get")); err != nil {
		t.Errorf("once it was allowed: %v", err)
	}
}

func TestAnAnswerHoldsUntilTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o opinion
		g, targets := guarded(placesOnly{}, o.view), []*target{setIn("a")}
		right := targets[0].place.right("get")
		g.review(t.Context(), targets)
		o.set(helmtrail.ErrNotReviewed)
		time.Sleep(unansweredLimit - time.Second)
		g.review(t.Context(), targets)
		if err := g.sees(right); err != nil {
			t.Errorf("unanswered for less than the limit: %v", err)
		}
		time.Sleep(2 * time.Second)
		g.review(t.Context(), targets)
		if err := g.sees(right); !errors.Is(err, errNotYet) {
			t.Errorf("unanswered for longer: %v, want not yet known", err)
		}
		denied := &helmtrail.ForbiddenError{User: "u", Right: right}
		o.set(denied)
		g.review(t.Context(), targets)
		if err := g.sees(right); !errors.Is(err, denied) || unknownRow(health.Resource{}, err).Status != health.StatusForbidden {
			t.Errorf("after a refusal: %v", err)
		}
	})
}

func TestASlowReviewDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guarded(placesOnly{}, func(ctx context.Context, _ helmtrail.Right) error {
			<-ctx.Done()
			return ctx.Err()
		})
		start, targets := time.Now(), []*target{setIn("a"), setIn("b"), setIn("c"), setIn("d"), setIn("e")}
		g.review(t.Context(), targets)
		if took := time.Since(start); took > reviewTimeout {
			t.Errorf("it took %v, want %v at most", took, reviewTimeout)
		}
	})
}

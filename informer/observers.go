package informer

import (
	"context"
	"slices"
	"sync"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// observers passes transitions on to the registered functions, in the order in
// which they were added and without holding a lock of the index.
type observers struct {
	mu      sync.Mutex
	keeper  audit.Keeper // nil without a trail
	waiting []notice
	byName  map[releaseKey][]*observer
	all     []*observer
	wake    chan struct{}
}

// notice is a queued notification: a transition; a state without a transition,
// which is only for the keeper; or another call of the keeper.
type notice struct {
	transition decoder.Transition
	keep       func(audit.Keeper)
}

// observer is one caller's function.
type observer struct {
	mu      sync.Mutex // held while f runs, so that stop waits for it
	stopped bool
	f       func(decoder.Transition)
}

func newObservers() *observers {
	return &observers{byName: map[releaseKey][]*observer{}, wake: make(chan struct{}, 1)}
}

// keep registers the keeper, which is notified of everything.
func (o *observers) keep(keeper audit.Keeper) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keeper = keeper
}

// add queues a notice and never blocks.
func (o *observers) add(n notice) {
	o.mu.Lock()
	o.waiting = append(o.waiting, n)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run delivers notices until ctx ends.
func (o *observers) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		o.mu.Lock()
		batch := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		for _, n := range batch {
			if ctx.Err() != nil {
				return
			}
			o.notify(n)
		}
	}
}

// notify delivers one notice to the keeper and the observers.
func (o *observers) notify(n notice) {
	t := n.transition
	o.mu.Lock()
	keeper := o.keeper
	var notified []*observer
	if n.keep == nil && t.Change != "" {
		notified = slices.Concat(o.byName[releaseKey{t.Revision.Namespace, t.Revision.Name}], o.all)
	}
	o.mu.Unlock()
	switch {
	case keeper == nil:
	case n.keep != nil:
		n.keep(keeper)
	default:
		keeper.See(t)
	}
	for _, observer := range notified {
		observer.call(t)
	}
}

func (o *observer) call(t decoder.Transition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopped {
		o.f(t)
	}
}

// observe registers f for one release, and returns a function that unregisters it.
func (o *observers) observe(k releaseKey, f func(decoder.Transition)) (stop func()) {
	added := &observer{f: f}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byName[k] = append(slices.Clone(o.byName[k]), added)
	return func() {
		o.mu.Lock()
		if left := without(o.byName[k], added); len(left) > 0 {
			o.byName[k] = left
		} else {
			delete(o.byName, k)
		}
		o.mu.Unlock()
		added.stop()
	}
}

// observeAll registers f for all releases, and returns a function that unregisters
// it.
func (o *observers) observeAll(f func(decoder.Transition)) (stop func()) {
	added := &observer{f: f}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(slices.Clone(o.all), added)
	return func() {
		o.mu.Lock()
		o.all = without(o.all, added)
		o.mu.Unlock()
		added.stop()
	}
}

func (o *observer) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
}

func without(list []*observer, gone *observer) []*observer {
	return slices.DeleteFunc(slices.Clone(list), func(o *observer) bool { return o == gone })
}

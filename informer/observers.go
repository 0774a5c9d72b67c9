package informer

import (
	"context"
	"slices"
	"sync"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// observers hands transitions to those who asked for them, in the order in
// which they were added and outside all locks of the index.
type observers struct {
	mu      sync.Mutex
	keeper  stream.Keeper // nil if nothing is kept
	waiting []notice
	byName  map[releaseKey][]*observer
	all     []*observer
	wake    chan struct{}
}

// notice is one thing to tell: a transition, or a state that is none, of which
// only the keeper is told, or something else for the keeper.
type notice struct {
	transition decoder.Transition
	keep       func(stream.Keeper)
}

// observer is one caller's function.
type observer struct {
	mu      sync.Mutex // held while f runs, so that stop can wait for it
	stopped bool
	f       func(decoder.Transition)
}

func newObservers() *observers {
	return &observers{byName: map[releaseKey][]*observer{}, wake: make(chan struct{}, 1)}
}

// keep makes the keeper one who is told everything.
func (o *observers) keep(keeper stream.Keeper) {
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

// run tells transitions until ctx ends.
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
			o.tell(n)
		}
	}
}

func (o *observers) tell(n notice) {
	t := n.transition
	o.mu.Lock()
	keeper := o.keeper
	var told []*observer
	if n.keep == nil && t.Change != "" {
		told = slices.Concat(o.byName[releaseKey{t.Revision.Namespace, t.Revision.Name}], o.all)
	}
	o.mu.Unlock()
	switch {
	case keeper == nil:
	case n.keep != nil:
		n.keep(keeper)
	default:
		keeper.See(t)
	}
	for _, observer := range told {
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

// observe registers f for one release and returns how to end that.
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

// observeAll registers f for all releases and returns how to end that.
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

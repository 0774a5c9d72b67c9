package informer

import (
	"context"
	"slices"
	"sync"

	"github.com/helmtrail/helmtrail/decoder"
)

// observers hands transitions to those who asked for them, in the order in
// which they were added and outside all locks of the index.
type observers struct {
	mu      sync.Mutex
	waiting []decoder.Transition
	byName  map[releaseKey][]*observer
	all     []*observer
	wake    chan struct{}
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

// add queues a transition and never blocks.
func (o *observers) add(t decoder.Transition) {
	o.mu.Lock()
	o.waiting = append(o.waiting, t)
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
		for _, t := range batch {
			if ctx.Err() != nil {
				return
			}
			o.tell(t)
		}
	}
}

func (o *observers) tell(t decoder.Transition) {
	o.mu.Lock()
	told := slices.Concat(o.byName[releaseKey{t.Revision.Namespace, t.Revision.Name}], o.all)
	o.mu.Unlock()
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

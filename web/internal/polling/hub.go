package polling

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail/internal/bounded"
)

const (
	// answerLife is how long an answer is shared without a reported change: parts
	// of it, such as whether a release is stuck, depend on the time.
	answerLife = time.Second
	// maxAnswers is the maximum number of answers that are kept.
	maxAnswers = 2000
)

// Topic is what a client waits for: a release; without a name, all releases of a
// namespace; without a namespace, all releases of the cluster.
type Topic struct{ Namespace, Name string }

// Hub wakes the clients that wait for a change in a cluster, and keeps the
// answers that they share. Its methods may be called concurrently.
type Hub struct {
	done     <-chan struct{}
	releases func() uint64
	answers  *bounded.Cache[*Answer] // by key and version
	reads    singleflight.Group      // by key and version

	mu      sync.Mutex
	changes uint64
	waiting map[Topic]*waiters
}

// waiters share one notification.
type waiters struct {
	count int
	wake  chan struct{} // closed by the next change
}

// New returns a Hub. Waiting ends when done is closed. Releases returns a number
// that changes whenever the cluster's releases do.
func New(done <-chan struct{}, releases func() uint64) *Hub {
	return &Hub{
		done: done, releases: releases, waiting: map[Topic]*waiters{},
		answers: bounded.New(bounded.Options[*Answer]{Limit: maxAnswers, Life: answerLife}),
	}
}

// Changed wakes the clients that wait for the release, its namespace or the cluster.
func (h *Hub) Changed(namespace, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes++
	for _, t := range []Topic{{namespace, name}, {namespace, ""}, {}} {
		if w := h.waiting[t]; w != nil {
			close(w.wake)
			w.wake = make(chan struct{})
		}
	}
}

// WaitUntil waits until the condition is true. It checks the condition at once
// and after each change of the topic. It returns false if ctx ends first.
func (h *Hub) WaitUntil(ctx context.Context, about Topic, condition func() bool) bool {
	defer h.join(about)()
	for {
		changed := h.next(about)
		if condition() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// join registers a waiter. leave must be called.
func (h *Hub) join(t Topic) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.waiting[t]
	if w == nil {
		w = &waiters{wake: make(chan struct{})}
		h.waiting[t] = w
	}
	w.count++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if w.count--; w.count == 0 {
			delete(h.waiting, t)
		}
	}
}

// next returns a channel that is closed by the next change of a joined topic.
func (h *Hub) next(t Topic) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting[t].wake
}

// version identifies the state that answers depend on, except for the time. Read
// it before that state: if the state is newer, it is at worst read once more than
// needed.
func (h *Hub) version() string {
	releases := h.releases()
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%d %d", h.changes, releases)
}

// Shared returns the answer with the key while it is up to date, and otherwise
// the result of read. With key "" nothing is shared.
func (h *Hub) Shared(ctx context.Context, key string, read func(context.Context) (*Answer, error)) (*Answer, error) {
	if key == "" {
		return read(ctx)
	}
	key += " " + h.version()
	if a, ok := h.answers.Get(key); ok {
		return a, nil
	}
	// All clients that were woken together share one read. It continues if one of them
	// leaves.
	made, err, _ := h.reads.Do(key, func() (any, error) {
		// Another read may have ended since the last look-up.
		if a, ok := h.answers.Get(key); ok {
			return a, nil
		}
		a, err := read(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		h.answers.Add(key, a)
		return a, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*Answer), nil
}

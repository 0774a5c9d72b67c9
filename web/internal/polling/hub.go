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
	// answerLife is how long an answer is shared although no change was
	// reported: parts of it, such as what is stuck, depend on the time.
	answerLife = time.Second
	// maxAnswers bounds the answers that are kept to be shared.
	maxAnswers = 2000
)

// Topic is what a client waits for: a release, with no name all releases of a
// namespace, without a namespace all of the cluster.
type Topic struct{ Namespace, Name string }

// Hub wakes those who wait for something of a cluster to change, and keeps the
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

// Changed wakes those who wait for the release, its namespace or the cluster.
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

// WaitUntil waits until the condition holds, which it checks now and after each
// change of the topic. It reports false when ctx ends first.
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

// next returns a channel that the next change of a joined topic closes.
func (h *Hub) next(t Topic) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting[t].wake
}

// version identifies the state of everything that answers depend on, except the
// time. It is read before that state, which may then be newer and is at worst
// read once more than needed.
func (h *Hub) version() string {
	releases := h.releases()
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%d %d", h.changes, releases)
}

// Shared returns the answer under a key as long as it is up to date, and
// otherwise what read returns. Without a key nothing is shared.
func (h *Hub) Shared(ctx context.Context, key string, read func(context.Context) (*Answer, error)) (*Answer, error) {
	if key == "" {
		return read(ctx)
	}
	key += " " + h.version()
	if a, ok := h.answers.Get(key); ok {
		return a, nil
	}
	// All who were woken at once wait for one read, which goes on when one of
	// them leaves.
	made, err, _ := h.reads.Do(key, func() (any, error) {
		// A read may have ended since this one looked.
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

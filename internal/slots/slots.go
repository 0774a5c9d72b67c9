// Package slots limits how much happens at once, for each user and for all of
// them, so that slow transfers of one user do not hold up the others.
package slots

import (
	"context"
	"sync"
)

// Slots are places that are taken and given back. Its methods may be called
// concurrently.
type Slots struct {
	perKey int
	all    chan struct{}

	mu   sync.Mutex
	keys map[string]*keySlots
}

type keySlots struct {
	taken chan struct{}
	users int // how many callers wait or hold a slot; guarded by Slots.mu
}

// New returns Slots with a number of places for each key and for all keys.
func New(perKey, inAll int) *Slots {
	return &Slots{perKey: perKey, all: make(chan struct{}, inAll), keys: map[string]*keySlots{}}
}

// Take blocks for a slot of the key, which may be a user's name, and returns a
// function that must be called afterwards. It fails if the context ends.
func (s *Slots) Take(ctx context.Context, key string) (release func(), err error) {
	s.mu.Lock()
	own := s.keys[key]
	if own == nil {
		own = &keySlots{taken: make(chan struct{}, s.perKey)}
		s.keys[key] = own
	}
	own.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.keys, key)
		}
	}
	select {
	case own.taken <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-own.taken
		leave()
		return nil, ctx.Err()
	}
	return func() {
		<-s.all
		<-own.taken
		leave()
	}, nil
}

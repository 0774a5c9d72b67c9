package repository

import (
	"context"
	"sync"
)

const (
	// slotsPerUser bounds the downloads of one user at a time.
	slotsPerUser = 4
	// slotsInAll bounds all downloads at a time.
	slotsInAll = 64
)

// slots limits the downloads of each user and of all users.
type slots struct {
	all chan struct{}

	mu    sync.Mutex
	users map[string]*userSlots
}

type userSlots struct {
	taken chan struct{}
	users int // how many callers wait or hold a slot; guarded by slots.mu
}

func newSlots() *slots {
	return &slots{all: make(chan struct{}, slotsInAll), users: map[string]*userSlots{}}
}

func (s *slots) take(ctx context.Context, user string) (release func(), err error) {
	s.mu.Lock()
	own := s.users[user]
	if own == nil {
		own = &userSlots{taken: make(chan struct{}, slotsPerUser)}
		s.users[user] = own
	}
	own.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.users, user)
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

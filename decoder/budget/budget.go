// Package budget bounds the memory in which records are decoded, masked and
// shown, whatever they hold and however many requests ask for them.
//
// A [Budget] is a semaphore whose weights are bytes. A request begins a share of
// it with [Budget.Begin]. The code that decodes a record first takes the memory
// that the record needs, with [Take], and the code that writes an answer returns
// it, with [Keep]. What is left is returned when the request ends.
package budget

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// ErrBusy is returned when others kept the memory for too long, or too many wait
// for it.
var ErrBusy = errors.New("the server is busy with other large releases")

const (
	// maxWait is how long a request waits for memory, or in a Line.
	maxWait = 10 * time.Second
	// largeLimit is the memory for large records, in bytes: as much as the largest
	// one may take.
	largeLimit = 240 << 20
	// usualLimit is the memory for all other records, so that large ones cannot
	// keep them waiting.
	usualLimit = 64 << 20
	// usualSize is the largest weight of a usual record. Most charts stay below.
	usualSize = 16 << 20
	// answersLimit is the memory for large answers that are being sent, and
	// smallAnswer is the size up to which an answer does not count.
	answersLimit = tree.MaxText + 1<<20
	smallAnswer  = 1 << 20
	// waitingForLarge and waitingForUsual are how many requests may wait for
	// memory. Each holds the bytes of a Secret, a megabyte at most.
	waitingForLarge, waitingForUsual = 32, 64

	// perByte and perNode are how much memory masking a record and writing it as
	// YAML takes at most, measured with the worst records.
	perByte, perNode = 4, 1000
)

// Weight returns how much memory a record of this extent takes until it is
// masked and written, in bytes.
func Weight(e decoder.Extent) int {
	return e.Bytes*perByte + min(e.Nodes, tree.MaxNodes)*perNode
}

// Budget is memory that requests share. Its methods may be called concurrently.
type Budget struct{ usual, large, answers *Line }

// New returns a server's Budget.
func New() *Budget {
	b := &Budget{usual: NewLine(usualLimit), large: NewLine(largeLimit), answers: NewLine(answersLimit)}
	b.usual.maxWaiting, b.large.maxWaiting = waitingForUsual, waitingForLarge
	return b
}

// share is what one request has taken.
type share struct {
	budget *Budget

	mu    sync.Mutex
	taken map[*Line]int
	ended bool
}

type shareKey struct{}

// Begin begins a share of the Budget: [Take] takes from it when it gets the
// context. End returns all that was taken; it is idempotent. A share within
// another one is independent of it. A nil Budget has no limit.
func (b *Budget) Begin(ctx context.Context) (within context.Context, end func()) {
	if b == nil {
		return ctx, func() {}
	}
	s := &share{budget: b, taken: map[*Line]int{}}
	return context.WithValue(ctx, shareKey{}, s), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		s.giveBack()
	}
}

// giveBack returns all that was taken. It is called under s.mu.
func (s *share) giveBack() {
	for line, bytes := range s.taken {
		if line == s.budget.large {
			collectAsUsual()
		}
		line.leave(bytes)
	}
	clear(s.taken)
}

// Take takes memory for the share that ctx comes from, and waits until there is
// enough. A share that needs more than the whole Budget gets all of it. Take
// fails with ErrBusy when the wait is too long, and with the context's error when
// ctx ends. Without a share there is no limit.
func Take(ctx context.Context, bytes int) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok || ctx.Err() != nil {
		return ctx.Err()
	}
	line := s.budget.usual
	if bytes > usualSize {
		line = s.budget.large
		s.mu.Lock()
		bytes = min(bytes, largeLimit-s.taken[line])
		s.mu.Unlock()
	}
	if err := line.enter(ctx, bytes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		line.leave(bytes)
		return context.Canceled
	}
	if line == s.budget.large && s.taken[line] == 0 {
		collectOften()
	}
	s.taken[line] += bytes
	return nil
}

// Keep returns the memory of the share that ctx comes from, since nothing is
// needed any more but an answer of so many bytes, which is sent next. It fails as
// Take does.
func Keep(ctx context.Context, bytes int) error {
	s, ok := ctx.Value(shareKey{}).(*share)
	if !ok {
		return nil
	}
	answer := bytes > smallAnswer
	if answer {
		bytes = min(bytes, answersLimit)
		if err := s.budget.answers.enter(ctx, bytes); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
	if answer {
		s.taken[s.budget.answers] = bytes
	}
	return nil
}

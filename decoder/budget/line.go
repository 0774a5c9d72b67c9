package budget

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Line lets so many through at a time, whatever they count. Its methods may be
// called concurrently.
type Line struct {
	free *semaphore.Weighted
	// maxWaiting is how many may wait, 0 for any number.
	maxWaiting int32
	waiting    atomic.Int32
}

// NewLine returns a Line with a limit.
func NewLine(limit int) *Line { return &Line{free: semaphore.NewWeighted(int64(limit))} }

// Enter waits for one place. It fails as Take does, but without a share it waits
// until ctx ends. The caller must call leave.
func (l *Line) Enter(ctx context.Context) (leave func(), err error) {
	if _, ok := ctx.Value(shareKey{}).(*share); ok {
		err = l.enter(ctx, 1)
	} else {
		err = l.free.Acquire(ctx, 1)
	}
	if err != nil {
		return nil, err
	}
	return func() { l.leave(1) }, nil
}

func (l *Line) enter(ctx context.Context, n int) error {
	if l.free.TryAcquire(int64(n)) {
		return nil
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > l.maxWaiting && l.maxWaiting > 0 {
		return ErrBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, ErrBusy)
	defer cancel()
	if l.free.Acquire(ctx, int64(n)) != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (l *Line) leave(n int) { l.free.Release(int64(n)) }

package journal

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// requests keeps requests away from the embedded server while its streams are
// reopened, because the server then replaces its queues of requests without a
// lock (setJetStreamExportSubs in nats-server/v2/server/jetstream_api.go).
// Publishing a message is not such a request.
type requests struct{ free *semaphore.Weighted }

// maxRequests is more than there ever are at once.
const maxRequests = 1 << 20

func newRequests() requests { return requests{semaphore.NewWeighted(maxRequests)} }

// ask sends a request to the server. It waits while the streams are reopened.
func ask[T any](ctx context.Context, r requests, request func(context.Context) (T, error)) (T, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	if err := r.free.Acquire(ctx, 1); err != nil {
		return *new(T), fmt.Errorf("wait for the journal's streams: %w", err)
	}
	defer r.free.Release(1)
	return request(ctx)
}

// hold waits until no request is under way and keeps new ones from starting
// until release is called.
func (r requests) hold(ctx context.Context) (release func(), err error) {
	if err := r.free.Acquire(ctx, maxRequests); err != nil {
		return nil, fmt.Errorf("wait for the requests that are under way: %w", err)
	}
	return func() { r.free.Release(maxRequests) }, nil
}

// bound returns ctx, with a deadline of callTimeout if it has none.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

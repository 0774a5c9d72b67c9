package journal

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// requests counts the requests to the embedded server that are under way. The
// server must not get one while its streams are opened again: it replaces its
// queues of requests without a lock (setJetStreamExportSubs in
// nats-server/v2/server/jetstream_api.go). Publishing is not such a request.
type requests struct{ free *semaphore.Weighted }

const maxRequests = 1 << 20

func newRequests() requests { return requests{semaphore.NewWeighted(maxRequests)} }

// ask sends a request to the server. It blocks while the streams are opened.
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

// bound gives a context without a deadline one.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

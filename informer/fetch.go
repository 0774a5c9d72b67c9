package informer

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/helmtrail/helmtrail/decoder"
)

const (
	// urgentWorkers is how many changed Secrets are fetched at a time.
	urgentWorkers = 8
	// backfillWorkers and backfillPerSecond bound the reading of Secrets that no
	// transition waits for.
	backfillWorkers   = 4
	backfillPerSecond = 500
	// fetchTimeout bounds one request.
	fetchTimeout = 30 * time.Second
	// fetchAttempts is how often a Secret is requested before the transition that
	// waits for it is made from its label. With the delays below that takes about
	// three seconds.
	fetchAttempts = 6
	// firstDelay doubles with each failure up to lastDelay.
	firstDelay = 50 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// fetcher reads the Secrets that a list returned without their data. A key that
// is queued twice is fetched once: only the Secret's newest state counts.
type fetcher struct {
	urgent, backfill workqueue.TypedRateLimitingInterface[key]
}

// newFetcher creates the queues. They have goroutines of their own, so the caller
// must call run, which ends them.
func newFetcher() *fetcher {
	queue := func() workqueue.TypedRateLimitingInterface[key] {
		return workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](firstDelay, lastDelay))
	}
	return &fetcher{urgent: queue(), backfill: queue()}
}

// run fetches queued Secrets until ctx ends. The function reads one Secret and
// reports whether to try again.
func (f *fetcher) run(ctx context.Context, fetch func(ctx context.Context, k key, failures int) (again bool)) {
	var workers sync.WaitGroup
	defer workers.Wait()
	for range urgentWorkers {
		workers.Go(func() { work(ctx, f.urgent, fetch) })
	}
	throttle := flowcontrol.NewTokenBucketRateLimiter(backfillPerSecond, backfillWorkers)
	for range backfillWorkers {
		workers.Go(func() {
			work(ctx, f.backfill, func(ctx context.Context, k key, failures int) bool {
				return throttle.Wait(ctx) == nil && fetch(ctx, k, failures)
			})
		})
	}
	<-ctx.Done()
	f.urgent.ShutDown()
	f.backfill.ShutDown()
}

func work(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[key],
	fetch func(ctx context.Context, k key, failures int) (again bool),
) {
	for {
		k, over := queue.Get()
		if over {
			return
		}
		if ctx.Err() == nil && fetch(ctx, k, queue.NumRequeues(k)) {
			queue.AddRateLimited(k)
		} else {
			queue.Forget(k)
		}
		queue.Done(k)
	}
}

// fetch reads the Secret k unless the index has read its newest state. Failures is
// the number of earlier failures.
func (w *Watcher) fetch(ctx context.Context, k key, failures int) (again bool) {
	w.mu.Lock()
	e := w.index.secrets[k]
	if e == nil || e.read {
		w.mu.Unlock()
		return false
	}
	want := e.rev
	w.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	full, err := w.secrets.Secrets(k.namespace).Get(ctx, k.secret, metav1.GetOptions{})
	var got *secret
	switch {
	case err == nil:
		got = w.read(full)
	case apierrors.IsNotFound(err):
	case apierrors.IsForbidden(err):
		got = unreadable(want, "the record cannot be read: access to the Secret is forbidden")
	case failures+1 < fetchAttempts:
		return true
	default:
		// No transition waits for it any longer, but it is still needed.
		again = true
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.notify(w.index.fetched(want, got))
	if got != nil && got.foreign {
		w.ignored++
		w.wantNewest(want)
	}
	return again
}

// unreadable returns want with the reason why its record cannot be read.
func unreadable(want *decoder.Revision, problem string) *secret {
	rev := *want
	rev.Problem = problem
	return &secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: rev.Namespace, Name: rev.Secret.Name,
			UID: types.UID(rev.Secret.UID), ResourceVersion: rev.Secret.ResourceVersion,
		},
		revision: &rev, read: true,
	}
}

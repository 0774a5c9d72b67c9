package budget_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
)

// large is the weight of the largest record.
var large = budget.Weight(decoder.Extent{Bytes: decoder.DefaultInflated, Nodes: decoder.DefaultNodes})

const usual = 1 << 20

func TestLargeRecordsWaitForEachOther(t *testing.T) {
	b := budget.New()
	var mu sync.Mutex
	inMemory, most := 0, 0
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			ctx, end := b.Begin(t.Context())
			defer end()
			if err := budget.Take(ctx, large); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inMemory++
			most = max(most, inMemory)
			mu.Unlock()
			mu.Lock()
			inMemory--
			mu.Unlock()
		})
	}
	running.Wait()
	if most != 1 {
		t.Errorf("%d of the largest records were in memory at once, want 1", most)
	}
}

func TestLargeRecordsDoNotKeepUsualOnesWaiting(t *testing.T) {
	b := budget.New()
	ctx, end := b.Begin(t.Context())
	defer end()
	if err := budget.Take(ctx, large); err != nil {
		t.Fatal(err)
	}
	other, endOther := b.Begin(t.Context())
	defer endOther()
	if err := budget.Take(other, usual); err != nil {
		t.Error(err)
	}
}

// A request waits for ten seconds at most, and not after its client has left.
func TestAWaitEndsWithTheRequestOrAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New()
		ctx, end := b.Begin(t.Context())
		if err := budget.Take(ctx, large); err != nil {
			t.Fatal(err)
		}
		take := func(ctx context.Context) error {
			ctx, end := b.Begin(ctx)
			defer end()
			return budget.Take(ctx, large)
		}
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if err := take(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("the error of a request that ended is %v", err)
		}
		start := time.Now()
		if err := take(t.Context()); !errors.Is(err, budget.ErrBusy) || time.Since(start) != 10*time.Second {
			t.Errorf("the error is %v after %v, want busy after ten seconds", err, time.Since(start))
		}
		end()
	})
}

func TestOnlySoManyRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New()
		ctx, end := b.Begin(t.Context())
		if err := budget.Take(ctx, large); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		busy := 0
		for range 100 {
			go func() {
				ctx, end := b.Begin(t.Context())
				defer end()
				if err := budget.Take(ctx, large); errors.Is(err, budget.ErrBusy) {
					mu.Lock()
					busy++
					mu.Unlock()
				} else if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if busy != 100-32 {
			t.Errorf("%d of 100 requests were refused at once, want all but 32", busy)
		}
		end()
		synctest.Wait()
		if busy != 100-32 {
			t.Errorf("%d requests were refused in the end", busy)
		}
	})
}

// A client that takes its answer slowly keeps the answer in memory, but not what
// the answer was made from.
func TestAnAnswerKeepsOnlyItself(t *testing.T) {
	b := budget.New()
	slow, endSlow := b.Begin(t.Context())
	defer endSlow()
	if err := errors.Join(budget.Take(slow, large), budget.Keep(slow, 16<<20)); err != nil {
		t.Fatal(err)
	}
	next, endNext := b.Begin(t.Context())
	defer endNext()
	if err := errors.Join(budget.Take(next, large), budget.Keep(next, 1000)); err != nil {
		t.Error(err)
	}
}

// A comparison holds two records.
func TestARequestNeverWaitsForItself(t *testing.T) {
	ctx, end := budget.New().Begin(t.Context())
	defer end()
	if err := errors.Join(budget.Take(ctx, large-1), budget.Take(ctx, large), budget.Take(ctx, large)); err != nil {
		t.Error(err)
	}
}

func TestAShareThatHasEndedTakesNothing(t *testing.T) {
	b := budget.New()
	ctx, end := b.Begin(t.Context())
	end()
	if err := budget.Take(ctx, large); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	next, endNext := b.Begin(t.Context())
	defer endNext()
	if err := budget.Take(next, large); err != nil {
		t.Errorf("it took memory: %v", err)
	}
}

func TestWithoutAShareThereIsNoLimit(t *testing.T) {
	var none *budget.Budget
	ctx, end := none.Begin(t.Context())
	defer end()
	for range 3 {
		if err := budget.Take(ctx, large); err != nil {
			t.Error(err)
		}
	}
}

package trail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

const (
	// firstRetry and lastRetry bound the delay between retries after the journal
	// refuses to store.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// drainTime is how long Run keeps trying after its context is done.
	drainTime = 10 * time.Second
	// identifyTime bounds one request to the cluster.
	identifyTime = 5 * time.Second
	// itemOverhead is the approximate size of a queued item without the record's
	// bytes.
	itemOverhead = 2 << 10
)

// errUnidentified means that the UID of a cluster or a namespace cannot be read
// now, so that it cannot be distinguished from others of its name. The cluster
// is at fault, not the journal.
var errUnidentified = errors.New("the UID cannot be read")

// keeper stores the results of the watch of one cluster. It implements
// audit.Keeper.
type keeper struct {
	trail   *Trail
	chain   *chain
	cluster Cluster
	log     *slog.Logger
	limit   int
	// stopped is done once stop has been called. finished is closed once run has
	// returned. started means that run has been called; the trail's lock guards
	// it.
	stopped  context.Context
	stop     context.CancelFunc
	finished chan struct{}
	started  bool

	noting sync.Mutex // held while the note is written

	mu      sync.Mutex
	changed sync.Cond // signals that an item was queued or removed, or that Run has ended
	queue   []item
	bytes   int
	ended   bool
	failing string
	uid     string
	uidRead bool
	mark    mark
	// synced holds the namespaces whose inventory is in the trail.
	synced map[string]bool
	// before is the head at the last note.
	before head
}

// item is one thing to store.
type item struct {
	// store stores the item. It may be called again after an error.
	store func(ctx context.Context) error
	bytes int
}

func newKeeper(t *Trail, c *chain, cluster Cluster, noted mark) *keeper {
	k := &keeper{
		trail: t, chain: c, cluster: cluster, limit: t.setup.QueueBytes, mark: noted,
		log: t.log.With("cluster", c.cluster), synced: map[string]bool{}, before: noted.Head, finished: make(chan struct{}),
	}
	k.changed.L = &k.mu
	k.stopped, k.stop = context.WithCancel(context.Background())
	return k
}

// Record implements [audit.Keeper].
func (k *keeper) Record(revision *decoder.Revision, data []byte) {
	digest := revision.Digest
	k.push(item{bytes: len(data), store: func(ctx context.Context) error {
		return k.trail.records.put(ctx, digest, data)
	}}, true)
}

// See implements [audit.Keeper].
func (k *keeper) See(transition decoder.Transition) {
	if transition.Time.IsZero() {
		transition.Time = time.Now()
	}
	s := &seen{Transition: transition}
	if sessions := k.trail.setup.Sessions; sessions != nil {
		s.running, _ = sessions.Running(k.release(transition.Revision))
	}
	k.push(item{bytes: itemOverhead, store: func(ctx context.Context) error { return k.see(ctx, s) }}, false)
}

// Synced implements [audit.Keeper].
func (k *keeper) Synced(namespace string) {
	now := time.Now()
	k.push(item{bytes: itemOverhead, store: func(ctx context.Context) error { return k.reconcile(ctx, namespace, now) }}, false)
}

// Missed implements [audit.Keeper].
func (k *keeper) Missed(namespace string, from time.Time) {
	now := time.Now()
	k.push(item{bytes: itemOverhead, store: func(ctx context.Context) error { return k.gap(ctx, namespace, from, now) }}, false)
}

// push queues an item. If wait is set, it blocks while the queue is full.
func (k *keeper) push(i item, wait bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for wait && k.bytes > 0 && k.bytes+i.bytes > k.limit && !k.ended {
		k.changed.Wait()
	}
	if k.ended {
		return // The next start finds what is missing.
	}
	k.queue = append(k.queue, i)
	k.bytes += i.bytes
	k.changed.Broadcast()
}

// next waits for an item. It returns false once the queue is empty and ctx is
// done.
func (k *keeper) next(ctx context.Context) (item, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.queue) == 0 {
		if ctx.Err() != nil {
			return item{}, false
		}
		k.changed.Wait()
	}
	i := k.queue[0]
	k.queue[0] = item{} // so that its bytes can be freed
	k.queue = k.queue[1:]
	return i, true
}

// run stores queued items until ctx is done or stop is called, and the queue is
// empty.
func (k *keeper) run(ctx context.Context) (err error) {
	defer close(k.finished)
	defer func() { err = errors.Join(err, k.note(true)) }()
	defer k.end()
	ctx, cancelRun := context.WithCancel(ctx)
	defer cancelRun()
	defer context.AfterFunc(k.stopped, cancelRun)()
	defer context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.changed.Broadcast()
	})()
	// Items queued in time are stored even though ctx is done.
	storing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainTime, cancel) })()
	for {
		i, ok := k.next(ctx)
		if !ok {
			return nil
		}
		if err := k.store(ctx, storing, i); errors.Is(err, errUnidentified) {
			k.log.Info("what the cluster would have to be asked for is left to the next start")
			return nil
		} else if errors.Is(err, context.Canceled) && storing.Err() != nil {
			// Nothing failed; there were more items than could be stored in time.
			k.log.Warn("not all of the trail could be stored in time; the next start finds what is missing", "waiting", k.waiting()+1)
			return nil
		} else if err != nil {
			return fmt.Errorf("the newest entries of the trail of %s could not be stored: %w", k.chain.cluster, err)
		}
		k.mu.Lock()
		k.bytes -= i.bytes
		k.changed.Broadcast()
		k.mu.Unlock()
	}
}

// waiting returns the number of queued items.
func (k *keeper) waiting() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.queue)
}

// end releases the callers of push that wait for room.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended, k.queue = true, nil
	k.changed.Broadcast()
}

// store stores an item and retries until storing is done or, if the cluster
// does not respond, until running is done.
func (k *keeper) store(running, storing context.Context, i item) error {
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		err := i.store(storing)
		if storing.Err() != nil {
			return err // running out of time says nothing about the journal
		}
		k.logOutcome(err)
		ends := storing
		if errors.Is(err, errUnidentified) {
			ends = running
		}
		if err == nil || ends.Err() != nil {
			return err
		}
		// Writable also reopens the journal once its disk accepts writes again.
		if problem := k.trail.setup.Journal.Writable(); problem != nil {
			k.log.Debug("the journal cannot be written to", "error", problem)
		}
		select {
		case <-time.After(delay):
		case <-ends.Done():
			return err
		}
	}
}

// logOutcome records the outcome of a write. It logs only changes.
func (k *keeper) logOutcome(err error) {
	if errors.Is(err, errUnidentified) {
		k.log.Debug("the trail waits for the cluster", "error", err)
		return
	}
	k.mu.Lock()
	failed := k.failing != ""
	k.failing = ""
	if err != nil {
		k.failing = err.Error()
	}
	k.mu.Unlock()
	switch {
	case err != nil && !failed:
		k.log.Error("the trail cannot be stored, trying on", "error", err)
	case err == nil && failed:
		k.log.Info("the trail can be stored again")
	}
}

// problem returns why nothing can be stored, or "" if storing works.
func (k *keeper) problem() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failing
}

// note writes until when the cluster was watched and the head of its chain at
// the last note. If last is set, it writes the current head instead.
func (k *keeper) note(last bool) error {
	k.noting.Lock()
	defer k.noting.Unlock()
	now, at := time.Now().UTC(), k.chain.head()
	k.mu.Lock()
	for namespace := range k.synced {
		if k.cluster.Watching(namespace) {
			k.mark.Watched[namespace] = now
		}
	}
	k.mark.Head, k.before = k.before, at
	if last {
		k.mark.Head = at
	}
	noted := k.mark.clone()
	k.mu.Unlock()
	return noted.write(k.trail.setup.Folder)
}

func (k *keeper) release(revision *decoder.Revision) helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: k.chain.cluster, Namespace: revision.Namespace, Name: revision.Name}
}

// knownUID returns the cluster's UID from memory, or "" if it is not known yet.
func (k *keeper) knownUID() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.uid
}

// identified reports whether the cluster's UID is known.
func (k *keeper) identified() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.uidRead || k.uid != ""
}

// clusterUID returns the cluster's UID. It asks the cluster once after each
// gap.
func (k *keeper) clusterUID(ctx context.Context) (string, error) {
	k.mu.Lock()
	uid, read := k.uid, k.uidRead
	k.mu.Unlock()
	if read {
		return uid, nil
	}
	asking, cancel := context.WithTimeout(ctx, identifyTime)
	defer cancel()
	uid, err := k.cluster.UID(asking)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnidentified, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.uid, k.uidRead = uid, true
	return uid, nil
}

// namespaceUID returns the current UID of a namespace.
func (k *keeper) namespaceUID(ctx context.Context, namespace string) (string, error) {
	asking, cancel := context.WithTimeout(ctx, identifyTime)
	defer cancel()
	uid, err := k.cluster.NamespaceUID(asking, namespace)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnidentified, err)
	}
	return uid, nil
}

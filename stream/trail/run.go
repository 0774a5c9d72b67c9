package trail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
)

// Watch makes the trail record the results of a cluster's watch while Run runs,
// until stop is called. stop stores everything queued by then. Call Watch
// before the cluster is watched, and stop while it still is. Watch fails if the
// cluster's chain cannot be read or is already being kept.
func (t *Trail) Watch(id string, cluster Cluster) (stop func(), err error) {
	if _, err := t.chain(id); errors.Is(err, helmtrail.ErrNotFound) {
		if err := t.load([]string{id}); err != nil {
			return nil, fmt.Errorf("read the trail of cluster %q: %w", id, err)
		}
	}
	noted, err := readMark(t.setup.Folder, id)
	if err != nil {
		noted = mark{Cluster: id, Watched: map[string]time.Time{}} // load has logged it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keepers[id] != nil {
		return nil, fmt.Errorf("the trail of cluster %q is being kept already", id)
	}
	c := t.chains[id]
	c.index.renew()
	k := newKeeper(t, c, cluster, noted)
	t.keepers[id] = k
	cluster.Keep(k)
	switch {
	case t.running != nil:
		t.running(k)
	case t.done:
		k.end()
	}
	return func() { t.unwatch(k) }, nil
}

// unwatch ends a keeper.
func (t *Trail) unwatch(k *keeper) {
	k.stop()
	t.mu.Lock()
	started := k.started
	if t.keepers[k.chain.cluster] == k {
		delete(t.keepers, k.chain.cluster)
	}
	t.mu.Unlock()
	if started {
		<-k.finished
	}
}

// Run stores entries until ctx is done, then stores everything queued by then,
// and returns nil. It blocks and may be called once. The clusters' watches
// should keep running until Run has returned; the next start finds what they
// report meanwhile.
func (t *Trail) Run(ctx context.Context) error {
	var group errgroup.Group
	start := func(k *keeper) {
		k.started = true
		group.Go(func() error { return k.run(ctx) })
	}
	t.mu.Lock()
	t.running = start
	for _, k := range t.keepers {
		start(k)
	}
	t.mu.Unlock()
	group.Go(func() error { return t.retain(ctx) })
	err := t.housekeep(ctx)
	t.mu.Lock()
	t.running, t.done = nil, true
	t.mu.Unlock()
	err = errors.Join(err, group.Wait())
	t.logHeads()
	return err
}

func (t *Trail) keeperOf(cluster string) *keeper {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.keepers[cluster]
}

func (t *Trail) allKeepers() []*keeper {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.SortedFunc(maps.Values(t.keepers), func(a, b *keeper) int { return cmp.Compare(a.chain.cluster, b.chain.cluster) })
}

func (t *Trail) allChains() []*chain {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.SortedFunc(maps.Values(t.chains), func(a, b *chain) int { return cmp.Compare(a.cluster, b.cluster) })
}

const (
	noteEvery   = 2 * time.Second
	firstHead   = time.Minute
	headEvery   = time.Hour
	firstRetain = 10 * time.Second
	retainEvery = 10 * time.Minute
)

// housekeep runs the periodic tasks.
func (t *Trail) housekeep(ctx context.Context) error {
	note, heads := time.NewTicker(noteEvery), time.NewTimer(firstHead)
	defer note.Stop()
	defer heads.Stop()
	for {
		select {
		case <-note.C:
			for _, k := range t.allKeepers() {
				if err := k.note(false); err != nil {
					t.log.Warn("a gap or a cut of the trail may not be noticed", "error", err)
				}
			}
		case <-heads.C:
			t.logHeads()
			heads.Reset(headEvery)
		case <-ctx.Done():
			return nil
		}
	}
}

// retain periodically erases the records that are due.
func (t *Trail) retain(ctx context.Context) error {
	due := time.NewTimer(firstRetain)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			if err := t.Retain(ctx, time.Now()); err != nil && ctx.Err() == nil {
				t.log.Error("records that are due could not be erased", "error", err)
			}
			due.Reset(retainEvery)
		case <-ctx.Done():
			return nil
		}
	}
}

// logHeads logs the heads of the chains, so that they are also known wherever
// the logs are kept.
func (t *Trail) logHeads() {
	for _, c := range t.allChains() {
		if at := c.tell(); at.Position > 0 {
			t.log.Info("trail head", "cluster", c.cluster, "position", at.Position, "hash", at.Hash)
		}
	}
}

// NotReady returns the reasons why the trail cannot be stored, one sentence
// each.
func (t *Trail) NotReady() []string {
	var all []string
	for _, k := range t.allKeepers() {
		if problem := k.problem(); problem != "" {
			all = append(all, fmt.Sprintf("The trail of cluster %s cannot be stored: %s.", k.chain.cluster, problem))
		}
	}
	return all
}

// Stats is the state of a cluster's trail.
type Stats struct {
	Cluster string
	State   audit.State
	// Logged and LoggedHash are the position and the hash of the head that was last
	// logged; 0 and "" if no head was logged.
	Logged     uint64
	LoggedHash string
	// Waiting is the number of bytes not stored yet. Failing means that they
	// cannot be stored.
	Waiting int
	Failing bool
}

// Stats returns the state of each cluster's trail. It reads only memory.
func (t *Trail) Stats() []Stats {
	var all []Stats
	for _, c := range t.allChains() {
		logged := c.loggedHead()
		s := Stats{Cluster: c.cluster, State: c.state(), Logged: logged.Position, LoggedHash: logged.Hash}
		if k := t.keeperOf(c.cluster); k != nil {
			k.mu.Lock()
			s.Waiting, s.Failing = k.bytes, k.failing != ""
			k.mu.Unlock()
		}
		all = append(all, s)
	}
	return all
}

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

// Watch makes the trail keep what the watch of a cluster learns, as long as Run
// runs, until stop is called, which stores what has come by then. It is called
// before the cluster is watched, and stop while it still is. It fails when the
// cluster's chain cannot be read, or is being kept already.
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

// Run keeps what comes until ctx ends, then stores what has come by then, and
// returns nil. It blocks and may be called once. The clusters' watches should go
// on until it has returned; what they learn meanwhile the next start finds.
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

// housekeep does what is to be done now and then.
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

// retain erases records that are due, now and then.
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

// logHeads tells the heads of the chains, so that they are also known where
// logs are kept.
func (t *Trail) logHeads() {
	for _, c := range t.allChains() {
		if at := c.tell(); at.Position > 0 {
			t.log.Info("trail head", "cluster", c.cluster, "position", at.Position, "hash", at.Hash)
		}
	}
}

// NotReady tells, a sentence each, what keeps the trail from being kept.
func (t *Trail) NotReady() []string {
	var all []string
	for _, k := range t.allKeepers() {
		if problem := k.problem(); problem != "" {
			all = append(all, fmt.Sprintf("The trail of cluster %s cannot be stored: %s.", k.chain.cluster, problem))
		}
	}
	return all
}

// Stats is how the trail of a cluster fares.
type Stats struct {
	Cluster string
	State   audit.State
	// Told and ToldHash are the position and the hash of the head that was
	// logged last; 0 if none was.
	Told     uint64
	ToldHash string
	// Waiting is how many bytes are not stored yet, Failing that they cannot be.
	Waiting int
	Failing bool
}

// Stats tells how the trails of the clusters fare. It comes from memory.
func (t *Trail) Stats() []Stats {
	var all []Stats
	for _, c := range t.allChains() {
		told := c.toldHead()
		s := Stats{Cluster: c.cluster, State: c.state(), Told: told.Position, ToldHash: told.Hash}
		if k := t.keeperOf(c.cluster); k != nil {
			k.mu.Lock()
			s.Waiting, s.Failing = k.bytes, k.failing != ""
			k.mu.Unlock()
		}
		all = append(all, s)
	}
	return all
}

package resources

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// newWait bounds the wait for a watch to bring what was read beside it.
const newWait = time.Second

// Now returns the rows that Follow would begin with. They come from the watches
// that all readers share, which go on for a while: a page that asks again and
// again asks the API server for them once. They are at least as new as what any
// Snapshot has returned before. It blocks as Follow does at its beginning, and
// fails only when ctx ends.
func (t *Tracker) Now(ctx context.Context, record *decoder.Record, viewer stream.Viewer) ([]stream.Resource, error) {
	fo := t.follower(record)
	defer fo.leave()
	fo.join(ctx)
	fo.waitUntilKnown(ctx)
	fo.waitUntilNew(ctx)
	sight := guarded(fo, viewer)
	sight.review(ctx, fo.targets)
	return newView(record, sight).rows(fo.targets), ctx.Err()
}

// waitUntilNew waits for the watches that are behind what was read beside them.
func (f *follower) waitUntilNew(ctx context.Context) {
	limit := time.NewTimer(newWait)
	defer limit.Stop()
	for {
		var behind []*sharedWatch
		for _, w := range f.watches {
			if w.behind() {
				behind = append(behind, w)
			}
		}
		if len(behind) == 0 {
			return
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		case <-limit.C:
			// It was deleted while the watch was interrupted, and will not come.
			for _, w := range behind {
				w.giveUp()
			}
			return
		}
	}
}

// want notes that an object of a place was read in this version, so that its
// watch, if there is one, is behind until it has brought that.
func (t *Tracker) want(p place, o any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.watches[p]; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wanted = max(w.wanted, versionOf(o))
	}
}

// bring notes that the watch has brought an object.
func (w *sharedWatch) bring(o any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.brought = max(w.brought, versionOf(o))
}

func (w *sharedWatch) behind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err == nil && w.brought < w.wanted
}

func (w *sharedWatch) giveUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = 0
}

// versionOf is the version of an object, by which those of a kind can be
// ordered; 0 if it has none.
func versionOf(o any) uint64 {
	object, ok := o.(metav1.Object)
	if !ok {
		return 0
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

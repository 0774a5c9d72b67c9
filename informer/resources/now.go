package resources

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// newWait bounds the wait for a watch to deliver a version that a GET has returned.
const newWait = time.Second

// Now returns the rows with which Follow would start. They come from the watches
// that all readers share, which continue for a while: repeated calls by a page
// make no requests. The rows are at least as new as those of any earlier
// Snapshot. Now blocks like Follow at its start, and fails only if ctx ends.
func (t *Tracker) Now(ctx context.Context, record *decoder.Record, viewer helmtrail.Viewer) ([]health.Resource, error) {
	fo := t.follower(record)
	defer fo.leave()
	fo.join(ctx)
	fo.waitUntilKnown(ctx)
	fo.waitUntilNew(ctx)
	g := guarded(fo, viewer)
	g.review(ctx, fo.targets)
	return newView(record, g).rows(fo.targets), ctx.Err()
}

// waitUntilNew waits for the watches that lag behind a GET.
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
			// The object was deleted while the watch was interrupted; its version
			// will not arrive.
			for _, w := range behind {
				w.forgetRequired()
			}
			return
		}
	}
}

// requireVersion records that a GET or LIST has returned this version of an
// object. If the place has a watch, it is behind until it has delivered the
// version.
func (t *Tracker) requireVersion(p place, o any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.watches[p]; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.required = max(w.required, versionOf(o))
	}
}

// observeVersion records that the watch has delivered an object.
func (w *sharedWatch) observeVersion(o any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observed = max(w.observed, versionOf(o))
}

// behind reports whether the watch has not yet delivered a version that a request
// has returned.
func (w *sharedWatch) behind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err == nil && w.observed < w.required
}

func (w *sharedWatch) forgetRequired() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.required = 0
}

// versionOf returns the resource version of an object as a number, by which the
// objects of a kind can be ordered; 0 if it has none.
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

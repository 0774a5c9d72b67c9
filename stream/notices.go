package stream

import (
	"maps"
	"slices"
	"sync"

	"github.com/helmtrail/helmtrail"
)

// notices reports to observers that sessions were opened or have ended.
type notices struct {
	mu        sync.Mutex
	made      int
	observers map[int]func(helmtrail.ReleaseRef)
}

// ObserveSessions calls f whenever a session of a release, started here or only
// observed, was opened or has ended, until stop is called. Active and Session
// return the new state by then. f must not block, and may still be called once
// while stop returns.
func (o *Operations) ObserveSessions(f func(release helmtrail.ReleaseRef)) (stop func()) {
	n := &o.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.observers == nil {
		n.observers = map[int]func(helmtrail.ReleaseRef){}
	}
	n.made++
	key := n.made
	n.observers[key] = f
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.observers, key)
	}
}

// tell calls the observers. It is called without any lock of Operations.
func (n *notices) tell(release helmtrail.ReleaseRef) {
	n.mu.Lock()
	observers := slices.Collect(maps.Values(n.observers))
	n.mu.Unlock()
	for _, f := range observers {
		f(release)
	}
}

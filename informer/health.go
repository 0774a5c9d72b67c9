package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// Health is how a cluster's watch fares.
type Health struct {
	// Reachable means that the newest request of the watch was answered.
	Reachable bool
	// Synced means that the index holds what the cluster had when Run began.
	Synced bool
	// Error says in words why the cluster is not reachable, "" if it is.
	Error string
	// Asked means that there has been an answer, or a failure.
	Asked bool
	// Restarts counts how often the watch began anew after the first time.
	Restarts uint64
	// Ignored counts the Secrets of Helm's type that hold no record.
	Ignored uint64
}

// health remembers the outcome of the newest request of a watch.
type health struct {
	log *slog.Logger

	mu    sync.Mutex
	asked bool
	err   error
	lists uint64
}

// listed is note for a listing, with which a watch begins.
func (h *health) listed(action string, err error) {
	h.mu.Lock()
	h.lists++
	h.mu.Unlock()
	h.note(action, err)
}

// counts tells whether there was an answer, and how often the watch began anew.
func (h *health) counts() (asked bool, restarts uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked, max(h.lists, 1) - 1
}

// note takes the outcome of a request that did action. Only a change is
// logged, since the same failure may repeat for days.
func (h *health) note(action string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	changed := !h.asked || (h.err == nil) != (err == nil)
	h.asked, h.err = true, nil
	if err != nil {
		h.err = fmt.Errorf("%s: %w", action, err)
	}
	h.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		h.log.Warn("cluster is not reachable, trying on", "action", action, "error", err)
	default:
		h.log.Info("cluster is reachable")
	}
}

func (h *health) get() (reachable bool, problem string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return false, h.err.Error()
	}
	if !h.asked {
		return false, "not asked yet"
	}
	return true, ""
}

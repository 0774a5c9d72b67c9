package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// Health is the state of a cluster's watch.
type Health struct {
	// Reachable means that the newest request of the watch was answered.
	Reachable bool
	// Synced means that the index holds what the cluster had when Run began.
	Synced bool
	// Error says why the cluster is not reachable, "" if it is.
	Error string
	// Asked means that a request has been answered or has failed.
	Asked bool
	// Restarts counts the LISTs after the first one.
	Restarts uint64
	// Ignored counts the Secrets of Helm's type that hold no record.
	Ignored uint64
}

// health holds the outcome of the newest request of a watch.
type requestHealth struct {
	log *slog.Logger

	mu    sync.Mutex
	asked bool
	err   error
	lists uint64
}

// listed is note for a LIST, with which a watch begins.
func (h *requestHealth) listed(action string, err error) {
	h.mu.Lock()
	h.lists++
	h.mu.Unlock()
	h.note(action, err)
}

// counts reports whether a request has been answered, and how often the watch was
// restarted.
func (h *requestHealth) counts() (asked bool, restarts uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked, max(h.lists, 1) - 1
}

// note records the outcome of a request. Only a change is logged, since the same
// failure may repeat for days.
func (h *requestHealth) note(action string, err error) {
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
		h.log.Warn("cluster is not reachable, retrying", "action", action, "error", err)
	default:
		h.log.Info("cluster is reachable")
	}
}

func (h *requestHealth) get() (reachable bool, problem string) {
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

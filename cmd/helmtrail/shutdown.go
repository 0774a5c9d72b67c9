package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/informer"
)

// closeTime is how long open requests may take to end after the last session
// has ended.
const closeTime = 10 * time.Second

// cleanups are named steps of a shutdown. The zero value has none.
type cleanups struct{ steps []cleanup }

type cleanup struct {
	name string
	run  func() error
}

// add registers a step, to be run before those that were added earlier. The name
// says what the step does.
func (c *cleanups) add(name string, run func() error) {
	c.steps = append(c.steps, cleanup{name, run})
}

// run runs all steps, the one added last first, also when some of them fail.
func (c *cleanups) run() error {
	var errs []error
	for _, step := range slices.Backward(c.steps) {
		if err := step.run(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", step.name, err))
		}
	}
	c.steps = nil
	return errors.Join(errs...)
}

// served is an HTTP server on its listener, with a certificate or nil.
type served struct {
	server      *http.Server
	listener    net.Listener
	certificate *certificate
}

// runParts runs the parts until ctx ends or one of them fails, and stops them, the
// last one first: an operation needs the trail and the watches to its end, and
// the trail needs the watches to store what it still has.
func runParts(ctx context.Context, watches *watching, options informer.Options, servers []served) (err error) {
	var cleanups cleanups
	defer func() { err = errors.Join(err, cleanups.run()) }()
	parts, ctx := errgroup.WithContext(ctx)

	watched, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	watches.ctx = watched
	cleanups.add("stop the watches", func() error {
		stopWatching()
		return watches.running.Wait()
	})

	kept, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	var keeping errgroup.Group
	keeping.Go(func() error { return watches.trail.Run(kept) })
	cleanups.add("stop the trail", func() error {
		stopKeeping()
		return keeping.Wait()
	})

	clusters := watches.fleet.all()
	for _, c := range clusters {
		if err := watches.start(c); err != nil {
			parts.Go(func() error { return err })
		}
	}

	for _, s := range servers {
		parts.Go(func() error {
			if err := serveHTTP(s.server, s.listener, s.certificate); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		})
	}
	cleanups.add("close the open requests", func() error {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		var errs []error
		for _, s := range servers {
			errs = append(errs, shutDown(closing, s.server, watches.logger))
		}
		return errors.Join(append(errs, parts.Wait())...)
	})

	cleanups.add("end the observed sessions", func() error {
		watches.unobserve()
		return nil
	})

	var following sync.WaitGroup
	following.Go(func() { informer.FollowContexts(ctx, options, clusters, watches.added, watches.removed) })
	cleanups.add("stop following the kubeconfig", func() error {
		following.Wait()
		return nil
	})

	return watches.operations.Run(ctx)
}

// shutDown stops a server. When ctx ends first, it closes the connections that
// are still open, which is no error: a client may have stopped reading.
func shutDown(ctx context.Context, server *http.Server, logger *slog.Logger) error {
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("closed connections that did not end in time", "after", closeTime)
		err = server.Close()
	}
	return err
}

// closeListener closes a listener that its server may have closed already.
func closeListener(l net.Listener) func() error {
	return func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

package stream

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
)

const (
	// quietTime is the time without a pending status after which an observed
	// session ends: helm's own rollback follows within moments.
	quietTime = 5 * time.Second
	// maxObserved is the maximum number of running observed sessions. Beyond it,
	// an outside operation appears only as transitions.
	maxObserved = 100
)

// observed is a session of an operation that helmtrail did not start.
type observed struct {
	*run
	changed chan struct{} // holds a token after a transition

	mu     sync.Mutex
	newest *decoder.Revision
	gone   bool
	// first is the revision that opened the session, in its first state that is
	// not pending: helm may undo it at once.
	first *decoder.Revision
}

// Watch opens an observed session for every pending status in the cluster that
// no session of helmtrail's caused, until stop is called. Stop also ends the
// observed sessions and waits for them. Watch must be called once for each
// cluster, before the cluster's watch runs.
func (o *Operations) Watch(id string, cluster Cluster) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var sessions sync.WaitGroup
	unobserve := cluster.ObserveAll(func(t decoder.Transition) { o.outside(ctx, &sessions, id, cluster, t) })
	return func() {
		unobserve()
		cancel()
		sessions.Wait()
	}
}

// outside handles a transition of a cluster. It does not block.
func (o *Operations) outside(ctx context.Context, sessions *sync.WaitGroup, id string, cluster Cluster, t decoder.Transition) {
	release := helmtrail.ReleaseRef{Cluster: id, Namespace: t.Revision.Namespace, Name: t.Revision.Name}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.observing[release]; s != nil {
		s.see(t)
		return
	}
	if t.Change != decoder.ChangeStatus || !decoder.Busy(t.Revision.Status()) || o.running[release] != nil || o.stopping {
		return
	}
	if len(o.observing) >= maxObserved {
		o.setup.Logger.Warn("too many outside operations; this one gets no session", "namespace", release.Namespace, "release", release.Name)
		return
	}
	request := helmtrail.Request{Operation: operationOf(t.Revision.Status()), Release: release}
	s := &observed{run: newRun(o, helmtrail.OriginOutside, helmtrail.SessionRef{Release: release, ID: uuid.NewString()}, request, cluster), changed: make(chan struct{}, 1)}
	s.see(t)
	o.observing[release] = s
	s.writer.ending = func() { o.forget(s) }
	sessions.Go(func() {
		defer o.forget(s)
		s.observe(ctx, t)
	})
}

func (o *Operations) forget(s *observed) {
	o.mu.Lock()
	was := o.observing[s.ref.Release] == s
	if was {
		delete(o.observing, s.ref.Release)
	}
	o.mu.Unlock()
	if was {
		o.notices.tell(s.ref.Release)
	}
}

// operationOf returns the operation that causes a pending status.
func operationOf(status decoder.Status) helmtrail.Operation {
	switch status {
	case decoder.StatusPendingInstall:
		return helmtrail.OperationInstall
	case decoder.StatusPendingRollback:
		return helmtrail.OperationRollback
	case decoder.StatusUninstalling:
		return helmtrail.OperationUninstall
	}
	return helmtrail.OperationUpgrade
}

// see handles a transition of the session's release.
func (s *observed) see(t decoder.Transition) {
	s.mu.Lock()
	if s.first == nil || t.Change == decoder.ChangeStatus && t.Revision.Secret.UID == s.first.Secret.UID && decoder.Busy(s.first.Status()) {
		s.first = t.Revision
	}
	switch {
	case t.Change == decoder.ChangeStatus && (s.newest == nil || t.Revision.Number >= s.newest.Number):
		s.newest, s.gone = t.Revision, false
	case t.Change != decoder.ChangeStatus && s.newest != nil && t.Revision.Number == s.newest.Number:
		s.gone = true
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *observed) state() (newest *decoder.Revision, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest, s.gone
}

// observe runs the session from its first transition to its end.
func (s *observed) observe(ctx context.Context, first decoder.Transition) {
	started := &helmtrail.Started{
		Operation: s.request.Operation, Origin: s.origin,
		Cluster: s.ref.Release.Cluster, Namespace: s.ref.Release.Namespace, Release: s.ref.Release.Name,
	}
	if h := first.Revision.Header; h != nil {
		started.Chart = chartName(h)
	}
	if _, err := s.begin(ctx, started); err != nil {
		s.log.Error("cannot open a session for an outside operation", "error", err)
		return
	}
	s.run.run(context.WithoutCancel(ctx), func(running context.Context) (helmtrail.Type, *helmtrail.End) {
		return s.follow(running, ctx, first)
	})
}

// follow reports transitions and objects until nothing has been pending for
// quietTime, or until stopped ends.
func (s *observed) follow(ctx, stopped context.Context, first decoder.Transition) (helmtrail.Type, *helmtrail.End) {
	release := s.ref.Release
	start := first.Revision.Number - 1
	if s.request.Operation == helmtrail.OperationUninstall {
		start = first.Revision.Number
	}
	s.releases.begin(start, start)
	s.releases.see(first)
	unobserve := s.cluster.Observe(release.Namespace, release.Name, s.releases.see)
	defer unobserve()
	defer s.objects.stopReading()
	s.releases.catchUp(ctx)
	s.setPhase(helmtrail.PhaseRunning)
	watched, stopWatching := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { s.objects.watch(watched) })
	defer watching.Wait()
	defer stopWatching()

	quiet := time.NewTimer(quietTime)
	defer quiet.Stop()
	for waiting := true; waiting; {
		newest, gone := s.state()
		due := quiet.C
		if !gone && decoder.Busy(newest.Status()) {
			due = nil
		}
		select {
		case <-s.changed:
			quiet.Reset(quietTime)
		case <-due:
			waiting = false
		case <-stopped.Done():
			waiting = false
		}
	}
	s.setPhase(helmtrail.PhaseFinishing)
	stopWatching()
	watching.Wait()
	if stopped.Err() == nil {
		s.releases.settle(ctx)
		s.objects.last(ctx)
	}
	return s.finish(stopped.Err() != nil)
}

// finish returns the end of an observed session according to the records.
func (s *observed) finish(stopped bool) (helmtrail.Type, *helmtrail.End) {
	newest, gone := s.state()
	end := &helmtrail.End{Causes: []health.Cause{}, Leftovers: []health.ObjectRef{}}
	if !gone {
		end.Release = &helmtrail.RevisionStatus{Revision: newest.Number, Status: newest.Status()}
	}
	s.mu.Lock()
	first := s.first
	s.mu.Unlock()
	switch {
	case stopped && !gone && decoder.Busy(newest.Status()):
		end.Reason, end.Message = helmtrail.ReasonInterrupted, "helmtrail was stopped; the operation may have gone on"
		return helmtrail.TypeFailed, end
	case s.succeeded(first.Status(), gone):
		return helmtrail.TypeCompleted, end
	}
	end.Reason, end.Causes = helmtrail.ReasonExit, s.objects.finalCauses()
	switch h := first.Header; {
	case first.Status() != decoder.StatusFailed && gone:
		end.Message = "the release was uninstalled again"
	case h != nil && h.Description != "":
		end.Message = mask.Cut(s.mask(h.Description), maxDescription)
	default:
		end.Message = string(first.Status())
	}
	return helmtrail.TypeFailed, end
}

// succeeded reports whether the operation succeeded, given the first status of
// its revision that is not pending. A superseded revision had succeeded before.
func (s *observed) succeeded(done decoder.Status, gone bool) bool {
	if s.request.Operation == helmtrail.OperationUninstall {
		return gone || done == decoder.StatusUninstalled
	}
	return done == decoder.StatusDeployed || done == decoder.StatusSuperseded
}

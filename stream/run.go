package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream/backend"
)

const (
	// beatEvery is the time between two heartbeats.
	beatEvery = 2 * time.Second
	// readTimeout bounds each request to the API server before helm is run and
	// after it has ended.
	readTimeout = 10 * time.Second
	// storeRetry is the pause before events are stored again after a failure.
	storeRetry = time.Second
	// storeTime is how long shutdown keeps retrying to store a terminal event.
	storeTime = 10 * time.Second
)

// run is one session while it runs. Its body and the cluster's callbacks put
// events into the inbox; only record writes the log.
type run struct {
	ops     *Operations
	ref     helmtrail.SessionRef
	origin  helmtrail.Origin
	request helmtrail.Request
	cluster Cluster
	log     *slog.Logger

	process  backend.Process // set for OriginHelmtrail alone
	writer   *writer
	inbox    *inbox
	releases *releaseWatch
	objects  *objectWatch
	opened   bool // guarded by ops.mu
	resumed  bool
	offset   int64        // the offset in helm's output; belongs to the body
	phase    atomic.Value // Phase

	mu      sync.Mutex
	active  bool              // helm runs
	stop    backend.StopCause // why it was stopped, "" if it was not; the first cause stays
	stopped chan struct{}     // closed when stop is set
	over    bool              // it is too late to stop anything
	left    bool              // the session goes on without this process
	// abandon ends what is done before helm runs; nil at other times.
	abandon context.CancelFunc
	leave   context.CancelFunc
}

func newRun(ops *Operations, origin helmtrail.Origin, ref helmtrail.SessionRef, request helmtrail.Request, cluster Cluster) *run {
	r := &run{
		ops: ops, origin: origin, ref: ref, request: request, cluster: cluster,
		log:     ops.setup.Logger.With("session", ref.ID, "operation", string(displayedOperation(request)), "namespace", ref.Release.Namespace, "release", ref.Release.Name),
		inbox:   newInbox(),
		writer:  newWriter(ops.chunks, ref, time.Now()),
		stopped: make(chan struct{}),
	}
	r.phase.Store(helmtrail.PhaseQueued)
	r.objects = newObjectWatch(r)
	r.releases = newReleaseWatch(r)
	return r
}

// open prepares the session's folder and stores STARTED.
func (r *run) open(ctx context.Context) (helmtrail.Session, error) {
	helm := r.ops.setup.Helm
	process, err := helm.Prepare(r.ref, r.request)
	if err != nil {
		return helmtrail.Session{}, err
	}
	r.process = process
	started := &helmtrail.Started{
		Operation: displayedOperation(r.request), Origin: r.origin,
		Cluster: r.ref.Release.Cluster, Namespace: r.ref.Release.Namespace, Release: r.ref.Release.Name,
		Chart: r.request.Chart.Ref, HelmVersion: helm.Version(), User: r.request.User.Name,
		TimeoutSeconds: new(seconds(r.request.Options.Timeout())), DeadlineSeconds: new(seconds(r.request.Options.Deadline())),
	}
	if r.request.Operation != helmtrail.OperationRecover {
		started.Command = helm.Command(r.ref.ID, r.request)
	}
	session, err := r.begin(ctx, started)
	if err != nil {
		return helmtrail.Session{}, errors.Join(err, process.Close())
	}
	return session, nil
}

// begin stores STARTED, which makes the session visible. It ignores the
// cancellation of ctx, because a write that is canceled may still be stored.
func (r *run) begin(ctx context.Context, started *helmtrail.Started) (helmtrail.Session, error) {
	first := pending{at: r.writer.started, kind: helmtrail.TypeStarted, body: started}
	if _, err := r.writer.write(context.WithoutCancel(ctx), []pending{first}); err != nil {
		return helmtrail.Session{}, err
	}
	r.ops.measureStored([]pending{first})
	r.ops.mu.Lock()
	r.opened = true
	r.ops.mu.Unlock()
	r.ops.notices.tell(r.ref.Release)
	r.beat()
	return newSession(helmtrail.Event{SessionID: r.ref.ID, Type: first.kind, Time: first.at.UTC(), Body: started}, helmtrail.Event{})
}

// seconds returns d in seconds, rounded to milliseconds. time.Duration.Seconds
// returns 2.6879999999999997 for 2.688 s.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// reopen continues the log that an earlier helmtrail wrote.
func (r *run) reopen(ctx context.Context, log *Log) error {
	last, err := r.ops.setup.Journal.Last(ctx, r.ref)
	if err != nil {
		return err
	}
	err = log.each(ctx, func(e helmtrail.Event) {
		r.writer.last.seq, r.writer.last.elapsed = e.Seq, e.Elapsed
		switch body := e.Body.(type) {
		case *helmtrail.Started:
			r.writer.started = e.Time
		case *helmtrail.ReleaseStatus:
			r.releases.recall(body)
		case *helmtrail.ResourceStatus:
			r.objects.recall(body)
		}
	})
	if err != nil {
		return err
	}
	r.writer.log, r.writer.last.offset, r.offset = log, last.Offset, last.Offset
	r.opened, r.resumed = true, true
	return nil
}

// run runs the session's body and stores its terminal event, unless the session
// was left to a later helmtrail.
func (r *run) run(ctx context.Context, body func(context.Context) (helmtrail.Type, *helmtrail.End)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.leave = cancel
	r.mu.Unlock()
	recorded := make(chan bool, 1) // whether all events were stored
	go func() {
		err := r.record(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			r.log.Error("cannot store the session's events", "error", err)
		}
		if errors.Is(err, helmtrail.ErrFenced) {
			r.leaveOn() // The session belongs to the other process.
		}
		recorded <- err == nil
	}()
	kind, end := body(ctx)
	r.objects.reading.Wait() // no event may follow the end
	r.mu.Lock()
	left := r.left
	r.over = true
	r.mu.Unlock()
	if left {
		cancel()
		<-recorded
		r.log.Info("session left to another helmtrail")
		return
	}
	end.StartRevision, end.Revisions = r.releases.made()
	end.DurationSeconds = seconds(time.Since(r.writer.started))
	r.inbox.put(kind, end)
	if !r.awaitEnd(recorded, cancel) {
		r.log.Warn("cannot store the session's end; the next helmtrail will")
		return
	}
	if r.origin == helmtrail.OriginHelmtrail {
		if err := r.process.Close(); err != nil {
			r.log.Error("cannot remove the session's folder", "error", err)
		}
	}
	r.ops.measureEnd(r, kind, end)
	r.log.Info("session ended", "result", string(kind), "reason", string(end.Reason))
}

// awaitEnd blocks until the terminal event is stored, and reports whether it was.
// During shutdown it gives up after storeTime: a journal that cannot be written
// must not keep helmtrail from stopping.
func (r *run) awaitEnd(recorded <-chan bool, giveUp func()) bool {
	select {
	case stored := <-recorded:
		return stored
	case <-r.ops.closing.Done():
	}
	select {
	case stored := <-recorded:
		return stored
	case <-time.After(storeTime):
	}
	giveUp()
	return <-recorded
}

// end stops the session. It returns false if the session is over or helm has
// ended. Another call with force kills helm at once.
func (r *run) end(cause backend.StopCause, force bool) (accepted bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false, nil
	}
	if r.active {
		accepted, err := r.process.Stop(cause, r.grace(force))
		if err != nil || !accepted {
			return false, err
		}
	}
	if r.stop == "" {
		r.stop = cause
		close(r.stopped)
	}
	if r.abandon != nil {
		r.abandon()
	}
	r.setPhase(helmtrail.PhaseCanceling)
	return true, nil
}

// grace returns the time for helm to exit after SIGTERM. With rollbackOnFailure
// helm then undoes its work, which may take the whole timeout.
func (r *run) grace(force bool) time.Duration {
	switch {
	case force:
		return 0
	case r.request.Options.RollbackOnFailure:
		return max(r.ops.setup.Grace, r.request.Options.Timeout())
	}
	return r.ops.setup.Grace
}

// leaveOn ends the session only in this process. Supervisor and helm continue.
func (r *run) leaveOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.left = true
	if r.leave != nil {
		r.leave()
	}
}

// mask hides the secrets in a text that came from the cluster.
func (r *run) mask(text string) string {
	if r.origin == helmtrail.OriginHelmtrail {
		return r.process.Mask(text)
	}
	release := mask.Release{Cluster: r.ref.Release.Cluster, Namespace: r.ref.Release.Namespace, Name: r.ref.Release.Name}
	return mask.New(r.ops.setup.MaskKey, release).Collect().Text(text)
}

// stopCause returns why the session was stopped, "" if it was not.
func (r *run) stopCause() backend.StopCause {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop
}

// record writes the log until the terminal event is stored. It fails if another
// process takes the session over, or if ctx ends.
func (r *run) record(ctx context.Context) error {
	beats := time.NewTicker(beatEvery)
	defer beats.Stop()
	for {
		select {
		case <-r.inbox.ready:
			items := r.inbox.take()
			if len(items) == 0 {
				continue
			}
			if err := r.store(ctx, items); err != nil {
				return err
			}
			if items[len(items)-1].kind.Terminal() {
				return nil
			}
		case <-beats.C:
			r.beat()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// store writes the items and retries while the journal fails.
func (r *run) store(ctx context.Context, items []pending) error {
	for {
		stored, err := r.writer.write(ctx, items)
		r.ops.measureStored(items[:stored])
		if err == nil || errors.Is(err, helmtrail.ErrFenced) {
			return err
		}
		if errors.Is(err, errTooBig) {
			// The session must not stop for it.
			r.log.Error("dropped an event that is too large", "error", err)
			items = items[stored+1:]
			continue
		}
		r.log.Warn("cannot store events yet", "error", err)
		items = items[stored:]
		select {
		case <-time.After(storeRetry):
		case <-ctx.Done():
			return err
		}
	}
}

func (r *run) beat() {
	beat := &helmtrail.Heartbeat{Phase: r.phase.Load().(helmtrail.Phase)}
	if r.origin == helmtrail.OriginHelmtrail {
		beat.TimeoutSeconds = new(seconds(r.request.Options.Timeout()))
		beat.DeadlineSeconds = new(seconds(r.request.Options.Deadline()))
	}
	if err := r.writer.beat(time.Now(), beat); err != nil {
		r.log.Error("cannot send a heartbeat", "error", err)
	}
}

// phaseOrder orders the phases. A phase can only be followed by a higher one:
// several sources report it, and a late report must not reset it.
var phaseOrder = map[helmtrail.Phase]int{
	helmtrail.PhaseQueued: 0, helmtrail.PhaseRunning: 1, helmtrail.PhaseWaiting: 2, helmtrail.PhaseRollingBack: 3, helmtrail.PhaseRetrying: 4, helmtrail.PhaseCanceling: 5, helmtrail.PhaseFinishing: 6,
}

// setPhase moves the session to a later phase.
func (r *run) setPhase(p helmtrail.Phase) {
	for {
		old := r.phase.Load().(helmtrail.Phase)
		if phaseOrder[p] <= phaseOrder[old] || r.phase.CompareAndSwap(old, p) {
			return
		}
	}
}

// restartPhase resets the phase for another attempt.
func (r *run) restartPhase() { r.phase.CompareAndSwap(helmtrail.PhaseRetrying, helmtrail.PhaseRunning) }

// waits reports whether a line of helm's debug output says that helm starts to
// wait (helm.sh/helm/v3/pkg/kube/wait.go, helm.sh/helm/v4/pkg/kube/statuswait.go).
func waits(line string) bool {
	return strings.Contains(line, "beginning wait for") || strings.Contains(line, "waiting for resources")
}

package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// beatEvery is the time between two heartbeats.
	beatEvery = 2 * time.Second
	// readTimeout bounds each question to the API server before helm is run
	// and after it has ended.
	readTimeout = 10 * time.Second
	// storeRetry is the pause before events are stored again after a failure.
	storeRetry = time.Second
)

// run is one session while it runs. drive works through the operation's steps
// and puts what happens into the inbox, as do the cluster's callbacks; record
// is the only one that writes the log.
type run struct {
	ops     *Operations
	ref     SessionRef
	request Request
	cluster Cluster
	log     *slog.Logger

	process  Process
	writer   *writer
	inbox    *inbox
	releases *releaseWatch
	objects  *objectWatch
	opened   bool // guarded by ops.mu

	phase atomic.Value // Phase

	stopOnce    sync.Once
	interrupted atomic.Bool
}

func newRun(ops *Operations, ref SessionRef, request Request, cluster Cluster) *run {
	r := &run{
		ops: ops, ref: ref, request: request, cluster: cluster,
		log:    ops.setup.Logger.With("session", ref.ID, "operation", string(request.Operation), "namespace", ref.Release.Namespace, "release", ref.Release.Name),
		inbox:  newInbox(),
		writer: newWriter(ops.chunks, ref, time.Now()),
	}
	r.phase.Store(PhaseQueued)
	r.objects = newObjectWatch(r)
	r.releases = newReleaseWatch(r)
	return r
}

// open prepares the session's folder and stores STARTED.
func (r *run) open(ctx context.Context) (Session, error) {
	helm := r.ops.setup.Helm
	process, err := helm.Prepare(r.ref, r.request)
	if err != nil {
		return Session{}, err
	}
	r.process = process
	started := pending{at: r.writer.started, kind: TypeStarted, body: &Started{
		Operation: r.request.Operation, Origin: OriginHelmtrail,
		Cluster: r.ref.Release.Cluster, Namespace: r.ref.Release.Namespace, Release: r.ref.Release.Name,
		Chart: r.request.Chart.Ref, HelmVersion: helm.Version(), Command: helm.Command(r.ref.ID, r.request), User: r.request.User,
		TimeoutSeconds:  r.request.Options.Timeout().Seconds(),
		DeadlineSeconds: r.request.Options.Deadline().Seconds(),
	}}
	if err := r.writer.write(ctx, []pending{started}); err != nil {
		return Session{}, errors.Join(err, process.Close())
	}
	r.ops.mu.Lock()
	r.opened = true
	r.ops.mu.Unlock()
	r.beat()
	return newSession(Event{SessionID: r.ref.ID, Type: started.kind, Time: started.at.UTC(), Body: started.body}, Event{})
}

// reopen goes on where an earlier helmtrail's log of the session ends.
func (r *run) reopen(ctx context.Context, log *Log) error {
	last, err := r.ops.setup.Journal.Last(ctx, r.ref)
	if err != nil {
		return err
	}
	err = log.each(ctx, func(e Event) {
		r.writer.seq, r.writer.elapsed = e.Seq, e.Elapsed
		switch body := e.Body.(type) {
		case *Started:
			r.writer.started = e.Time
		case *ReleaseStatus:
			r.releases.recall(body)
		case *ResourceStatus:
			r.objects.recall(body)
		}
	})
	if err != nil {
		return err
	}
	r.writer.log, r.writer.mark = log, last.Mark
	r.opened = true
	return nil
}

// run works the session to its terminal event. It blocks until that is stored.
func (r *run) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		if err := r.record(ctx); err != nil {
			r.log.Error("the session's events cannot be stored", "error", err)
		}
		cancel()
	}()
	o := r.drive(ctx)
	end := o.end()
	end.DurationSeconds = time.Since(r.writer.started).Round(time.Millisecond).Seconds()
	end.Notes = r.releases.notes(ctx, o)
	r.inbox.put(o.kind(), end)
	<-recorded
	if err := r.process.Close(); err != nil {
		r.log.Error("the session's folder stays behind", "error", err)
	}
	r.log.Info("session ended", "result", string(o.kind()), "reason", string(end.Reason))
}

// drive takes the operation from the queue to its end.
func (r *run) drive(ctx context.Context) outcome {
	o := outcome{request: r.request, session: r.ref.ID, untouched: true}
	stop := r.cluster.Observe(r.ref.Release.Namespace, r.ref.Release.Name, r.releases.see)
	defer stop()
	watched, stopWatching := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { r.objects.watch(watched) })
	defer watching.Wait()
	defer stopWatching()

	launch, launched := r.process.Launched()
	if !launched {
		var err error
		if launch, err = r.launch(ctx); err != nil {
			o.process = ProcessEnd{Problem: err.Error()}
			o.interrupted = r.interrupted.Load()
			return o
		}
	}
	o.start, o.untouched = launch.StartRevision, false
	r.releases.begin(launch.StartRevision)
	r.setPhase(PhaseRunning)
	end, err := r.process.Follow(ctx, r.writer.mark, func(line Line) error {
		if waits(line.Text) {
			r.setPhase(PhaseWaiting)
		}
		return r.inbox.putLine(ctx, line)
	})
	if err != nil {
		end.Problem = join("helm's output could not be followed to its end", err.Error())
	}
	o.process = end
	o.interrupted = r.interrupted.Load() && end.Stopped

	r.setPhase(PhaseFinishing)
	stopWatching()
	watching.Wait()
	o.after, o.known = r.releases.settle(ctx)
	r.objects.last(ctx)
	return o
}

// launch reads where the release stands and runs helm.
func (r *run) launch(ctx context.Context) (Launch, error) {
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	before, err := r.cluster.Read(reading, r.ref.Release.Namespace, r.ref.Release.Name)
	if err != nil {
		return Launch{}, err
	}
	kubeconfig, err := r.cluster.Kubeconfig(reading)
	if err != nil {
		return Launch{}, err
	}
	launch := Launch{Kubeconfig: kubeconfig}
	if len(before) > 0 {
		launch.StartRevision = before[len(before)-1].Number
	}
	if r.interrupted.Load() {
		return Launch{}, errors.New("helmtrail was stopped before helm was run")
	}
	return launch, r.process.Start(ctx, launch)
}

// interrupt ends helm because helmtrail itself stops.
func (r *run) interrupt() {
	r.stopOnce.Do(func() {
		r.interrupted.Store(true)
		r.setPhase(PhaseCanceling)
		grace := r.ops.setup.Grace
		if r.request.Options.RollbackOnFailure {
			grace = max(grace, r.request.Options.Timeout())
		}
		if err := r.process.Stop(grace); err != nil {
			r.log.Error("helm could not be ended", "error", err)
		}
	})
}

// record writes the log until the terminal event is stored. It fails when
// another process has taken the session over, or ctx ends.
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

// store writes the items, and tries again for as long as the journal is in trouble.
func (r *run) store(ctx context.Context, items []pending) error {
	for {
		before := r.writer.seq
		err := r.writer.write(ctx, items)
		if err == nil || errors.Is(err, ErrFenced) {
			return err
		}
		r.log.Warn("events could not be stored yet", "error", err)
		items = items[r.writer.seq-before:]
		select {
		case <-time.After(storeRetry):
		case <-ctx.Done():
			return err
		}
	}
}

func (r *run) beat() {
	phase := r.phase.Load().(Phase)
	err := r.writer.beat(time.Now(), &Heartbeat{
		TimeoutSeconds:  r.request.Options.Timeout().Seconds(),
		DeadlineSeconds: r.request.Options.Deadline().Seconds(),
		Phase:           phase,
	})
	if err != nil {
		r.log.Error("no heartbeat", "error", err)
	}
}

// phaseOrder says which phases may follow which: only higher ones. Several
// sources tell the phase, and a late one must not turn it back.
var phaseOrder = map[Phase]int{
	PhaseQueued: 0, PhaseRunning: 1, PhaseWaiting: 2, PhaseRollingBack: 3, PhaseCanceling: 4, PhaseFinishing: 5,
}

// setPhase moves the session on.
func (r *run) setPhase(p Phase) {
	for {
		old := r.phase.Load().(Phase)
		if phaseOrder[p] <= phaseOrder[old] || r.phase.CompareAndSwap(old, p) {
			return
		}
	}
}

// waits tells whether a line of helm's debug output says that it begins to
// wait (helm.sh/helm/v3/pkg/kube/wait.go, helm.sh/helm/v4/pkg/kube/statuswait.go).
func waits(line string) bool {
	return strings.Contains(line, "beginning wait for") || strings.Contains(line, "waiting for resources")
}

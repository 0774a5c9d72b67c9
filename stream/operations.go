package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Setup configures Operations.
type Setup struct {
	Journal Journal
	Helm    Helm
	// Cluster returns the cluster with the given id.
	Cluster func(id string) (Cluster, bool)
	// SignIn means that callers must log in. A session then stores only those
	// objects of the cluster that its starter may see.
	SignIn bool
	// Quotas bound the operations that run at once.
	Quotas Quotas
	// Drain is how long shutdown waits for running operations.
	Drain time.Duration
	// LeaveOnStop leaves operations that still run after Drain to their
	// supervisors and the next helmtrail, instead of stopping them.
	LeaveOnStop bool
	// StuckAfter is the age of another client's pending status after which the
	// release counts as stuck.
	StuckAfter time.Duration
	// Grace is the time for helm to exit after SIGTERM.
	Grace time.Duration
	// MaskKey is the key of the fingerprints in masks: at least 16 random bytes,
	// the same wherever secrets of these clusters are masked.
	MaskKey []byte
	// CacheBytes bounds the encoded events that are kept for readers.
	CacheBytes int
	// Meter counts what sessions do; nil counts nothing.
	Meter  Meter
	Logger *slog.Logger
}

const (
	// DefaultMaxOperations is the default of Quotas.Operations.
	DefaultMaxOperations = 50
	// DefaultCacheBytes is Setup's CacheBytes when it is 0.
	DefaultCacheBytes = 64 << 20
)

// Operations starts sessions, runs them and opens their logs. Its methods may
// be called concurrently.
type Operations struct {
	setup   Setup
	chunks  *chunks
	notices notices

	mu       sync.Mutex
	stopping bool
	running  map[helmtrail.ReleaseRef]*run
	// observing are the observed sessions.
	observing map[helmtrail.ReleaseRef]*observed
	done      sync.WaitGroup
	// closing is canceled once shutdown only waits for terminal events to be stored.
	closing context.Context
	close   context.CancelFunc
}

// NewOperations returns Operations that run nothing yet.
func NewOperations(setup Setup) *Operations {
	if setup.Quotas.Operations == 0 {
		setup.Quotas.Operations = DefaultMaxOperations
	}
	if setup.Grace == 0 {
		setup.Grace = backend.DefaultGrace
	}
	if setup.StuckAfter == 0 {
		setup.StuckAfter = DefaultStuckAfter
	}
	if setup.MaskKey == nil {
		setup.MaskKey = []byte(rand.Text())
	}
	if setup.CacheBytes == 0 {
		setup.CacheBytes = DefaultCacheBytes
	}
	if setup.Logger == nil {
		setup.Logger = slog.Default()
	}
	closing, stop := context.WithCancel(context.Background())
	return &Operations{
		closing: closing, close: stop,
		setup:     setup,
		chunks:    newChunks(setup.Journal, setup.CacheBytes),
		running:   map[helmtrail.ReleaseRef]*run{},
		observing: map[helmtrail.ReleaseRef]*observed{},
	}
}

// Resume continues the sessions that an earlier helmtrail left running. It must
// be called once, before Run and before a log is read.
func (o *Operations) Resume(ctx context.Context) error {
	left, err := o.setup.Helm.Left()
	if err != nil {
		return fmt.Errorf("find the sessions left running: %w", err)
	}
	for _, process := range left {
		if err := o.resume(ctx, process); err != nil {
			o.setup.Logger.Error("cannot resume a session", "session", process.Session().ID, "error", err)
		}
	}
	return nil
}

// Run blocks until ctx ends, waits up to Drain for the running operations and
// stops those that are left, or leaves them (see Setup). When it returns, every
// other session has its terminal event, unless the journal cannot be written.
func (o *Operations) Run(ctx context.Context) error {
	<-ctx.Done()
	defer o.close()
	o.mu.Lock()
	o.stopping = true
	waiting := len(o.running)
	o.mu.Unlock()
	finished := make(chan struct{})
	go func() {
		o.done.Wait()
		close(finished)
	}()
	if waiting > 0 {
		o.setup.Logger.Info("waiting for running operations", "operations", waiting, "drain", o.setup.Drain)
	}
	drain := time.NewTimer(o.setup.Drain)
	defer drain.Stop()
	select {
	case <-finished:
		return nil
	case <-drain.C:
	}
	for _, r := range o.remaining() {
		if o.setup.LeaveOnStop {
			r.leaveOn()
		} else if _, err := r.end(backend.StopInterrupted, false); err != nil {
			// On a full disk the request cannot be written; helm must not keep helmtrail from stopping.
			r.log.Error("cannot stop helm; it is left to the next helmtrail", "error", err)
			r.leaveOn()
		}
	}
	o.close()
	<-finished
	return nil
}

func (o *Operations) remaining() []*run {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Values(o.running))
}

// Start checks the request, opens a session for it and returns once its STARTED
// event is stored. Helm is run afterwards. It fails with
// *InvalidError, *InProgressError, *QuotaError, ErrStopping, or ErrNotFound when
// there is no such cluster.
func (o *Operations) Start(ctx context.Context, request helmtrail.Request) (helmtrail.Session, error) {
	cluster, ok := o.setup.Cluster(request.Release.Cluster)
	if !ok {
		return helmtrail.Session{}, fmt.Errorf("cluster %q: %w", request.Release.Cluster, helmtrail.ErrNotFound)
	}
	if err := o.setup.Helm.Check(request); err != nil {
		return helmtrail.Session{}, err
	}
	if err := o.checkPending(ctx, request, cluster); err != nil {
		return helmtrail.Session{}, err
	}
	return o.start(ctx, request, cluster)
}

// checkPending rejects a request over a revision that somebody may be working on,
// according to the watch. The watch may lag; the read before Helm is run decides
// (see launch).
func (o *Operations) checkPending(ctx context.Context, request helmtrail.Request, cluster Cluster) error {
	newest := cluster.Newest(request.Release.Namespace, request.Release.Name)
	pending, err := o.pendingOver(ctx, request, newest)
	if err != nil || pending == nil {
		return err
	}
	if id, ok := o.Running(request.Release); ok {
		return &helmtrail.InProgressError{Release: request.Release, SessionID: id}
	}
	return pending
}

// pendingOver returns a *PendingError if the request is a rollback or an
// uninstall and somebody else may be working on the release's newest revision.
// Helm itself rejects only installs and upgrades in that case; a rollback would
// leave two revisions deployed.
func (o *Operations) pendingOver(ctx context.Context, request helmtrail.Request, newest *decoder.Revision) (*helmtrail.PendingError, error) {
	switch {
	case newest == nil || !decoder.Busy(newest.Status()):
		return nil, nil
	case request.Operation != helmtrail.OperationRollback && request.Operation != helmtrail.OperationUninstall:
		return nil, nil
	case request.Options.OverridePending || request.Recovery != nil: // a person decided
		return nil, nil
	}
	stuck, err := o.abandoned(ctx, request.Release, newest)
	if err != nil || stuck != nil {
		return nil, err
	}
	return &helmtrail.PendingError{Release: request.Release, Revision: newest.Number, Status: newest.Status()}, nil
}

// start opens a session for a checked request.
func (o *Operations) start(ctx context.Context, request helmtrail.Request, cluster Cluster) (helmtrail.Session, error) {
	if err := o.setup.Quotas.limitDeadline(&request); err != nil {
		return helmtrail.Session{}, err
	}
	r := newRun(o, helmtrail.OriginHelmtrail, helmtrail.SessionRef{Release: request.Release, ID: uuid.NewString()}, request, cluster)
	if err := o.admit(r); err != nil {
		return helmtrail.Session{}, err
	}
	session, err := r.open(ctx)
	if err != nil {
		o.dismiss(r)
		o.done.Done()
		return helmtrail.Session{}, err
	}
	o.launch(r)
	return session, nil
}

// Cancel cancels one of the release's sessions: helm gets SIGTERM and some time
// to exit; with force it is killed at once. Canceling again is no error. It
// fails with ErrEnded if the session or its helm has ended, and with ErrNotFound
// if there is no such session.
func (o *Operations) Cancel(ctx context.Context, release helmtrail.ReleaseRef, id string, force bool) error {
	o.mu.Lock()
	r := o.running[release]
	o.mu.Unlock()
	if r == nil || r.ref.ID != id {
		session, err := o.Session(ctx, release, id)
		switch {
		case err != nil:
			return err
		case session.State == helmtrail.StateCanceled:
			return nil
		}
		return fmt.Errorf("cancel session %s: %w", id, helmtrail.ErrEnded)
	}
	accepted, err := r.end(backend.StopCanceled, force)
	if err == nil && !accepted {
		err = fmt.Errorf("cancel session %s: %w", id, helmtrail.ErrEnded)
	}
	return err
}

// launch runs an admitted session in the background.
func (o *Operations) launch(r *run) {
	// A client that reads the end may submit the next operation at once.
	r.writer.ending = func() { o.dismiss(r) }
	go func() {
		defer o.done.Done()
		defer o.dismiss(r)
		body := r.drive
		if r.request.Operation == helmtrail.OperationRecover {
			body = r.markFailed
		}
		// What belongs to the request, such as its share of the memory, ends with it.
		r.run(context.Background(), body)
	}()
}

// admit makes r its release's running session until it is dismissed. Run waits
// for it. A session that an earlier helmtrail started keeps its place whatever
// the quotas are.
func (o *Operations) admit(r *run) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopping {
		return helmtrail.ErrStopping
	}
	if other := o.running[r.ref.Release]; other != nil {
		return &helmtrail.InProgressError{Release: r.ref.Release, SessionID: other.ref.ID}
	}
	if !r.resumed {
		if err := o.checkQuotas(r); err != nil {
			return err
		}
	}
	o.running[r.ref.Release] = r
	o.done.Add(1)
	return nil
}

// dismiss removes r as its release's running session. It is idempotent.
func (o *Operations) dismiss(r *run) {
	o.mu.Lock()
	was := o.running[r.ref.Release] == r
	if was {
		delete(o.running, r.ref.Release)
	}
	o.mu.Unlock()
	if was {
		o.notices.tell(r.ref.Release)
	}
}

// resume continues the session of a process that an earlier helmtrail started.
func (o *Operations) resume(ctx context.Context, process backend.Process) error {
	ref := process.Session()
	last, err := openLog(ctx, o.chunks, ref)
	if errors.Is(err, helmtrail.ErrNotFound) {
		// helmtrail died before it answered the request.
		return process.Close()
	}
	if err != nil {
		return err
	}
	if _, ended := last.Head(); ended {
		return process.Close()
	}
	ctx = context.WithoutCancel(ctx)
	cluster, ok := o.setup.Cluster(ref.Release.Cluster)
	if !ok {
		return fmt.Errorf("cluster %q: %w", ref.Release.Cluster, helmtrail.ErrNotFound)
	}
	r := newRun(o, helmtrail.OriginHelmtrail, ref, process.Request(), cluster)
	r.process = process
	if err := r.reopen(ctx, last); err != nil {
		return err
	}
	if err := o.admit(r); err != nil {
		return err
	}
	o.setup.Logger.Info("session resumed", "session", ref.ID, "release", ref.Release.Name)
	o.launch(r)
	return nil
}

// Running returns the id of the release's running session. Observed sessions do
// not count.
func (o *Operations) Running(release helmtrail.ReleaseRef) (id string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.running[release]
	if r == nil || !r.opened {
		return "", false
	}
	return r.ref.ID, true
}

// Active returns the id of the release's running session, else of its observed
// one.
func (o *Operations) Active(release helmtrail.ReleaseRef) (id string, ok bool) {
	if id, ok = o.Running(release); ok {
		return id, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.observing[release]
	if s == nil || !s.opened {
		return "", false
	}
	return s.ref.ID, true
}

// Open returns the log of one of the release's sessions, running or ended. It
// fails with ErrNotFound if the release has no such session.
func (o *Operations) Open(ctx context.Context, release helmtrail.ReleaseRef, id string) (*Log, error) {
	o.mu.Lock()
	r := o.running[release]
	if s := o.observing[release]; s != nil && s.ref.ID == id {
		r = s.run
	}
	o.mu.Unlock()
	if r != nil && r.ref.ID == id {
		return r.writer.log, nil
	}
	return openLog(ctx, o.chunks, helmtrail.SessionRef{Release: release, ID: id})
}

// Session returns one of the release's sessions, or ErrNotFound.
func (o *Operations) Session(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Session, error) {
	session, err := readSession(ctx, o.setup.Journal, helmtrail.SessionRef{Release: release, ID: id})
	if err != nil || session.End != nil {
		return session, err
	}
	o.mu.Lock()
	r := o.running[release]
	if s := o.observing[release]; s != nil && s.ref.ID == id {
		r = s.run
	}
	o.mu.Unlock()
	if r != nil && r.ref.ID == id {
		session.StartRevision, session.Revisions = r.releases.made()
	}
	return session, nil
}

// Rendered returns the masked output of one of the release's dry runs. It fails
// with ErrNotFound if there is none.
func (o *Operations) Rendered(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Rendering, error) {
	if _, err := o.Session(ctx, release, id); err != nil {
		return helmtrail.Rendering{}, err
	}
	rendering, err := o.setup.Helm.Rendered(id)
	if errors.Is(err, helmtrail.ErrNotFound) {
		err = fmt.Errorf("rendered manifest of session %s (only a successful dry run has one): %w", id, helmtrail.ErrNotFound)
	}
	return rendering, err
}

// Sessions returns the release's sessions, newest first. A session that is
// damaged in the journal is logged and left out.
func (o *Operations) Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]helmtrail.Session, error) {
	ids, err := o.setup.Journal.Sessions(ctx, release)
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s/%s: %w", release.Namespace, release.Name, err)
	}
	sessions := make([]helmtrail.Session, 0, len(ids))
	for _, id := range ids {
		s, err := o.Session(ctx, release, id)
		if errors.Is(err, helmtrail.ErrAltered) || errors.Is(err, helmtrail.ErrNotFound) {
			o.setup.Logger.Error("a damaged session is missing from the list", "session", id, "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	slices.SortFunc(sessions, func(a, b helmtrail.Session) int { return b.StartedAt.Compare(a.StartedAt) })
	return sessions, nil
}

package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// errStopped is returned when the session was stopped before Helm was run.
var errStopped = errors.New("the session was stopped before helm was run")

// drive runs a helm operation to its end.
func (r *run) drive(ctx context.Context) (helmtrail.Type, *helmtrail.End) {
	o := outcome{request: r.request, session: r.ref.ID}
	release := r.ref.Release
	unobserve := r.cluster.Observe(release.Namespace, release.Name, r.releases.see)
	defer unobserve()
	defer r.objects.stopReading()
	watched, stopWatching := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { r.objects.watch(watched) })
	defer watching.Wait()
	defer stopWatching()

	r.attempts(ctx, &o)
	if ctx.Err() != nil {
		return "", nil
	}
	o.stop = r.stopCause()
	r.setPhase(helmtrail.PhaseFinishing)
	stopWatching()
	watching.Wait()
	o.after, o.known = r.releases.settle(ctx)
	o.seen = r.releases.toldAny()
	rows := r.objects.last(ctx)
	end := o.end()
	end.Message = r.mask(end.Message)
	if o.ran {
		var err error
		if end.Rendered, err = r.process.KeepRendered(); err != nil {
			r.log.Error("cannot keep the rendered manifest", "error", err)
		}
	}
	switch {
	case o.kind() == helmtrail.TypeCompleted && end.Rendered:
		end.Notes = r.renderedNotes()
	case o.kind() == helmtrail.TypeCompleted:
		end.Notes = r.mask(r.releases.notes(ctx, o))
	default:
		end.Leftovers = r.leftovers(ctx, o, rows)
		end.Causes = r.objects.finalCauses()
	}
	return o.kind(), end
}

// renderedNotes returns the notes that a dry run rendered, masked.
func (r *run) renderedNotes() string {
	rendering, err := r.ops.setup.Helm.Rendered(r.ref.ID)
	if err != nil {
		r.log.Warn("cannot read the rendered notes", "error", err)
		return ""
	}
	return cutNotes(rendering.Notes)
}

// attempts runs helm until it ends in a way that is not retried.
func (r *run) attempts(ctx context.Context, o *outcome) {
	launch, launched := r.process.Launched()
	if r.resumed && !launched {
		o.process.Problem = "helmtrail ended before helm was run; nothing was changed"
		o.cutShort = true
		return
	}
	if launched {
		r.releases.begin(launch.FirstRevision, launch.StartRevision)
		r.releases.catchUp(ctx)
		if err := r.markActive(); err != nil {
			r.log.Error("cannot stop helm", "error", err)
		}
	}
	for replace := false; ; launched = false {
		if !launched {
			var err error
			if launch, err = r.launch(ctx, launch, replace); err != nil {
				if !errors.Is(err, errStopped) {
					o.process = backend.ProcessEnd{Problem: err.Error()}
				}
				_, o.refused = errors.AsType[*helmtrail.PendingError](err)
				return
			}
		}
		o.start, o.first, o.ran = launch.StartRevision, launch.FirstRevision, true
		r.setPhase(helmtrail.PhaseRunning)
		end, err := r.process.Follow(ctx, r.offset, func(line backend.Line) error {
			if waits(line.Text) {
				r.setPhase(helmtrail.PhaseWaiting)
			}
			r.offset = line.Offset
			return r.inbox.putLine(ctx, line)
		})
		if err != nil {
			end.Problem = join("helm's output could not be followed to its end", err.Error())
		}
		o.process = end
		r.markEnded(end)
		var again bool
		if replace, again = r.again(ctx, *o, launch.Attempt); !again {
			return
		}
	}
}

// launch reads the release and runs helm. last is the previous launch, if this is
// another attempt.
func (r *run) launch(ctx context.Context, last backend.Launch, replace bool) (backend.Launch, error) {
	if r.stopCause() != "" {
		return backend.Launch{}, errStopped
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	credentials, err := credentialsOf(r.request)
	if err != nil {
		return backend.Launch{}, err
	}
	before, err := r.cluster.Read(reading, r.ref.Release.Namespace, r.ref.Release.Name)
	if err != nil {
		return backend.Launch{}, err
	}
	if len(before) > 0 {
		pending, err := r.ops.pendingOver(reading, r.request, before[len(before)-1])
		if err != nil {
			return backend.Launch{}, err
		}
		if pending != nil {
			return backend.Launch{}, pending
		}
	}
	launch := backend.Launch{
		Attempt: last.Attempt + 1, Replace: replace, MaskKey: r.maskKey(),
		Deadline: r.request.Options.Deadline() - time.Since(r.writer.started),
	}
	if launch.Kubeconfig, err = r.cluster.Kubeconfig(reading, credentials); err != nil {
		return backend.Launch{}, err
	}
	if secret := r.request.Chart.CredentialsSecret; secret != "" {
		if launch.ChartCredentials, err = r.cluster.SecretData(reading, credentials, r.ref.Release.Namespace, secret); err != nil {
			return backend.Launch{}, err
		}
	}
	if len(before) > 0 {
		launch.StartRevision = before[len(before)-1].Number
		if !r.request.OwnMasks {
			launch.Known = r.known(reading, launch.StartRevision)
		}
	}
	launch.FirstRevision = last.FirstRevision
	if last.Attempt == 0 {
		launch.FirstRevision = launch.StartRevision
	}
	r.releases.begin(launch.FirstRevision, launch.StartRevision)
	starting, stopStarting := context.WithCancel(ctx)
	defer stopStarting()
	if !r.setAbandon(stopStarting) {
		return backend.Launch{}, errStopped
	}
	defer r.setAbandon(nil)
	// This may fetch the chart, which a request to stop the session ends.
	if err := r.process.Start(starting, launch); err != nil {
		if r.stopCause() != "" {
			return backend.Launch{}, errStopped
		}
		return backend.Launch{}, err
	}
	return launch, r.markActive()
}

// setAbandon sets what end calls before helm runs. It reports false if the session
// was stopped already.
func (r *run) setAbandon(abandon context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.abandon = abandon
	return r.stop == ""
}

// maskKey returns the key of the masks in the session's log and rendered manifest.
func (r *run) maskKey() []byte {
	if !r.request.OwnMasks {
		return r.ops.setup.MaskKey
	}
	return mask.OwnKey(r.ops.setup.MaskKey, r.ref.ID)
}

// known returns the secrets that a revision of the release holds. If it cannot
// be read it returns none: that is no reason not to run helm.
func (r *run) known(ctx context.Context, revision int) []mask.Source {
	record, err := r.cluster.Record(ctx, r.ref.Release.Namespace, r.ref.Release.Name, revision)
	if err != nil {
		r.log.Warn("cannot read the secrets of the last revision", "revision", revision, "error", err)
		return nil
	}
	return []mask.Source{mask.FromRecord(record)}
}

// markActive makes end stop helm from now on. If end was called before, it stops
// helm at once.
func (r *run) markActive() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = true
	if r.stop == "" {
		return nil
	}
	_, err := r.process.Stop(r.stop, r.grace(false))
	return err
}

// markEnded records that helm ended, and the cause if its supervisor stopped it.
func (r *run) markEnded(end backend.ProcessEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = false
	if r.stop == "" && end.Stop != "" {
		r.stop = end.Stop
		close(r.stopped)
	}
}

// again reports whether to run helm once more. If so, it reports the retry and
// pauses first. A transient conflict is retried while attempts and time are left,
// and only if it left no revision or a failed one.
func (r *run) again(ctx context.Context, o outcome, attempt int) (replace, again bool) {
	most := r.request.Options.Attempts()
	race, ok := raceOf(o.process.Message)
	if _, err := credentialsOf(r.request); err != nil {
		return false, false
	}
	if !ok || attempt >= most || o.process.Exit == nil || o.exitedWith(0) || r.stopCause() != "" || r.request.Operation == helmtrail.OperationUninstall {
		return false, false
	}
	delay := time.Second << (attempt - 1)
	if time.Since(r.writer.started)+delay >= r.request.Options.Deadline() {
		return false, false
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	after, err := r.cluster.Read(reading, r.ref.Release.Namespace, r.ref.Release.Name)
	if err != nil {
		return false, false
	}
	o.after = after
	newest := o.newest()
	unchanged := newest == nil || newest.Number == o.start
	if !unchanged && newest.Status() != decoder.StatusFailed {
		return false, false
	}
	r.setPhase(helmtrail.PhaseRetrying)
	r.inbox.put(helmtrail.TypeRetrying, &helmtrail.Retrying{Attempt: attempt + 1, MaxAttempts: most, Reason: race.reason, Code: race.code, DelaySeconds: seconds(delay)})
	pause := time.NewTimer(delay)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-r.stopped:
		return false, false
	case <-ctx.Done():
		return false, false
	}
	r.restartPhase()
	return r.request.Operation == helmtrail.OperationInstall && newest != nil, true
}

// leftovers returns the objects that the operation created and that still exist:
// those of its revision that no earlier revision had. Nothing removes them by
// itself. For a failed uninstall they are the objects of the release.
func (r *run) leftovers(ctx context.Context, o outcome, rows []health.Resource) []health.ObjectRef {
	left := []health.ObjectRef{}
	if !o.ran {
		return left
	}
	before := map[string]bool{}
	if r.request.Operation != helmtrail.OperationUninstall && o.first > 0 {
		reading, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		record, err := r.cluster.Record(reading, r.ref.Release.Namespace, r.ref.Release.Name, o.first)
		if err == nil {
			var old []health.Resource
			if old, err = r.cluster.Snapshot(reading, record, r.viewer()); err == nil {
				for _, row := range old {
					before[row.Key()] = true
				}
			}
		}
		if err != nil {
			r.log.Warn("cannot find out what the operation left behind", "error", err)
			return left
		}
	}
	for _, row := range rows {
		if row.Owner == "" && row.Exists() && !before[row.Key()] {
			left = append(left, health.ObjectRef{Kind: row.Kind, Namespace: row.Namespace, Name: row.Name})
		}
	}
	return slices.Clip(beginning(left))
}

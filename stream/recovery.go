package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// displayedOperation returns the operation that lists show for the request's
// session. A recovery is shown as a recovery, whichever operation helm runs for
// it.
func displayedOperation(request helmtrail.Request) helmtrail.Operation {
	if request.Recovery != nil {
		return helmtrail.OperationRecover
	}
	return request.Operation
}

// Recover starts a session that recovers a stuck release with the request's
// Recovery, which also sets the request's Operation. Only a person can decide
// on a recovery, because somebody may still be working on the release. Recover
// fails like Start. It also returns ErrNotFound if the release does not exist,
// ErrNotStuck if nothing is pending, and ErrChanged if the release has changed
// since the caller read it.
func (o *Operations) Recover(ctx context.Context, request helmtrail.Request) (helmtrail.Session, error) {
	release, recovery := request.Release, *request.Recovery
	cluster, ok := o.setup.Cluster(release.Cluster)
	if !ok {
		return helmtrail.Session{}, fmt.Errorf("cluster %q: %w", release.Cluster, helmtrail.ErrNotFound)
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	revisions, err := cluster.Read(reading, release.Namespace, release.Name)
	if err != nil {
		return helmtrail.Session{}, err
	}
	if len(revisions) == 0 {
		return helmtrail.Session{}, fmt.Errorf("release %s/%s: %w", release.Namespace, release.Name, helmtrail.ErrNotFound)
	}
	newest := revisions[len(revisions)-1]
	switch {
	case !decoder.Busy(newest.Status()):
		return helmtrail.Session{}, fmt.Errorf("release %s/%s, revision %d is %s: %w", release.Namespace, release.Name, newest.Number, newest.Status(), helmtrail.ErrNotStuck)
	case recovery.ResourceVersion != "" && recovery.ResourceVersion != newest.Secret.ResourceVersion:
		return helmtrail.Session{}, fmt.Errorf("release %s/%s: %w", release.Namespace, release.Name, helmtrail.ErrChanged)
	case !slices.Contains(strategies(newest.Status()), recovery.Strategy):
		return helmtrail.Session{}, &helmtrail.InvalidError{Field: "strategy", Message: fmt.Sprintf("a release that is %s can be recovered by %v", newest.Status(), strategies(newest.Status()))}
	}
	recovery.ResourceVersion = newest.Secret.ResourceVersion
	request.Recovery = &recovery
	switch recovery.Strategy {
	case helmtrail.StrategyRollback:
		request.Operation, request.Revision = helmtrail.OperationRollback, rollbackTarget(revisions)
	case helmtrail.StrategyUninstall:
		request.Operation = helmtrail.OperationUninstall
	default:
		request.Operation = helmtrail.OperationRecover
	}
	return o.start(ctx, request, cluster)
}

// rollbackTarget returns the last deployed revision, otherwise the last
// superseded one, otherwise the first. Helm's own default, the previous
// revision, does not exist after a stuck first install.
func rollbackTarget(revisions []*decoder.Revision) int {
	for _, r := range slices.Backward(revisions) {
		if r.Status() == decoder.StatusDeployed {
			return r.Number
		}
	}
	for _, r := range slices.Backward(revisions) {
		if r.Status() == decoder.StatusSuperseded {
			return r.Number
		}
	}
	return revisions[0].Number
}

// markFailed is the body of a session that edits the stuck record.
func (r *run) markFailed(ctx context.Context) (helmtrail.Type, *helmtrail.End) {
	release := r.ref.Release
	unobserve := r.cluster.Observe(release.Namespace, release.Name, r.releases.see)
	defer unobserve()
	r.setPhase(helmtrail.PhaseRunning)
	end := &helmtrail.End{Causes: []health.Cause{}, Leftovers: []health.ObjectRef{}}
	writing, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	note := fmt.Sprintf("Marked failed by helmtrail at %s", time.Now().UTC().Format(time.RFC3339))
	revision := 0
	credentials, err := credentialsOf(r.request)
	if err == nil {
		revision, err = r.cluster.MarkFailed(writing, helmtrail.Mark{
			Namespace: release.Namespace, Name: release.Name,
			ResourceVersion: r.request.Recovery.ResourceVersion, Note: note, Credentials: credentials,
		})
	}
	if err != nil {
		end.Reason, end.Message = helmtrail.ReasonExit, err.Error()
	}
	r.releases.begin(revision, revision-1)
	r.setPhase(helmtrail.PhaseFinishing)
	after, known := r.releases.settle(ctx)
	if len(after) > 0 {
		newest := after[len(after)-1]
		end.Release = &helmtrail.RevisionStatus{Revision: newest.Number, Status: newest.Status()}
	}
	if err != nil {
		return helmtrail.TypeFailed, end
	}
	code := 0
	end.ExitCode = &code
	if known {
		agrees := end.Release != nil && end.Release.Revision == revision && end.Release.Status == decoder.StatusFailed
		end.Agrees = &agrees
	}
	return helmtrail.TypeCompleted, end
}

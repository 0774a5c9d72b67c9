package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// Recovery says how a stuck release is brought back. Rollback and uninstall
// are done by helm, as the request's Operation says then; markFailed edits the
// record, and the request's Operation is OperationRecover.
type Recovery struct {
	Strategy Strategy
	// ResourceVersion is the stuck revision's Secret as the caller saw it, ""
	// for whatever it is.
	ResourceVersion string
}

// Strategy is a way out of a stuck release.
type Strategy string

const (
	// StrategyRollback goes back to the last deployed revision, else to the first.
	StrategyRollback Strategy = "rollback"
	// StrategyMarkFailed writes the status failed into the stuck record, after
	// which helm accepts upgrades again.
	StrategyMarkFailed Strategy = "markFailed"
	// StrategyUninstall removes the release.
	StrategyUninstall Strategy = "uninstall"
)

// displayedOperation returns the operation under which the request's session is
// listed: a recovery is one, whatever helm does for it.
func displayedOperation(request Request) Operation {
	if request.Recovery != nil {
		return OperationRecover
	}
	return request.Operation
}

// Recover starts a session that recovers a stuck release as the request's Recovery
// says, which also sets the request's Operation. Recovery is a person's decision,
// because somebody may still be working on the release. It fails like Start, with
// ErrNotFound if there is no such release, with ErrNotStuck if nothing is pending,
// and with ErrChanged if the release is not as the caller saw it.
func (o *Operations) Recover(ctx context.Context, request Request) (Session, error) {
	release, recovery := request.Release, *request.Recovery
	cluster, ok := o.setup.Cluster(release.Cluster)
	if !ok {
		return Session{}, fmt.Errorf("cluster %q: %w", release.Cluster, ErrNotFound)
	}
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	revisions, err := cluster.Read(reading, release.Namespace, release.Name)
	if err != nil {
		return Session{}, err
	}
	if len(revisions) == 0 {
		return Session{}, fmt.Errorf("release %s/%s: %w", release.Namespace, release.Name, ErrNotFound)
	}
	newest := revisions[len(revisions)-1]
	switch {
	case !decoder.Busy(newest.Status()):
		return Session{}, fmt.Errorf("release %s/%s, revision %d is %s: %w", release.Namespace, release.Name, newest.Number, newest.Status(), ErrNotStuck)
	case recovery.ResourceVersion != "" && recovery.ResourceVersion != newest.Secret.ResourceVersion:
		return Session{}, fmt.Errorf("release %s/%s: %w", release.Namespace, release.Name, ErrChanged)
	case !slices.Contains(strategies(newest.Status()), recovery.Strategy):
		return Session{}, &InvalidError{Field: "strategy", Message: fmt.Sprintf("a release that is %s can be recovered by %v", newest.Status(), strategies(newest.Status()))}
	}
	recovery.ResourceVersion = newest.Secret.ResourceVersion
	request.Recovery = &recovery
	switch recovery.Strategy {
	case StrategyRollback:
		request.Operation, request.Revision = OperationRollback, rollbackTarget(revisions)
	case StrategyUninstall:
		request.Operation = OperationUninstall
	default:
		request.Operation = OperationRecover
	}
	return o.start(ctx, request, cluster)
}

// rollbackTarget returns the last deployed revision, else the last superseded one,
// else the first. Helm's own default, the previous revision, does not exist after
// a stuck first install.
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
func (r *run) markFailed(ctx context.Context) (Type, *End) {
	release := r.ref.Release
	unobserve := r.cluster.Observe(release.Namespace, release.Name, r.releases.see)
	defer unobserve()
	r.setPhase(PhaseRunning)
	end := &End{Causes: []Cause{}, Leftovers: []ObjectRef{}}
	writing, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	note := fmt.Sprintf("Marked failed by helmtrail at %s", time.Now().UTC().Format(time.RFC3339))
	revision := 0
	credentials, err := credentialsOf(r.request)
	if err == nil {
		revision, err = r.cluster.MarkFailed(writing, Mark{
			Namespace: release.Namespace, Name: release.Name,
			ResourceVersion: r.request.Recovery.ResourceVersion, Note: note, Credentials: credentials,
		})
	}
	if err != nil {
		end.Reason, end.Message = ReasonExit, err.Error()
	}
	r.releases.begin(revision, revision-1)
	r.setPhase(PhaseFinishing)
	after, known := r.releases.settle(ctx)
	if len(after) > 0 {
		newest := after[len(after)-1]
		end.Release = &RevisionStatus{Revision: newest.Number, Status: newest.Status()}
	}
	if err != nil {
		return TypeFailed, end
	}
	code := 0
	end.ExitCode = &code
	if known {
		agrees := end.Release != nil && end.Release.Revision == revision && end.Release.Status == decoder.StatusFailed
		end.Agrees = &agrees
	}
	return TypeCompleted, end
}

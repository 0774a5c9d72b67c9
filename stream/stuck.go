package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// DefaultStuckAfter is used when Setup's StuckAfter is 0.
const DefaultStuckAfter = 10 * time.Minute

// Stuck describes a release that was left pending or uninstalling and that
// nobody is known to be working on.
type Stuck struct {
	Since time.Time `json:"since"`
	// Suspected means that the operation came from outside helmtrail and may still
	// be running.
	Suspected bool `json:"suspected"`
	// By is the session that left the release stuck, or "" if the operation came
	// from outside helmtrail.
	By string `json:"by,omitempty"`
	// ResourceVersion is the resourceVersion of the stuck Secret. A recovery that
	// carries it succeeds only if nobody else has changed the Secret.
	ResourceVersion string               `json:"resourceVersion"`
	Strategies      []helmtrail.Strategy `json:"strategies"`
}

// Stuck returns how the release with the given newest revision is stuck, or nil
// if it is not.
func (o *Operations) Stuck(ctx context.Context, release helmtrail.ReleaseRef, newest *decoder.Revision) (*Stuck, error) {
	if _, ok := o.Running(release); ok {
		return nil, nil
	}
	return o.abandoned(ctx, release, newest)
}

// abandoned implements Stuck for a release without a running session, or with a
// session that has not run helm yet.
func (o *Operations) abandoned(ctx context.Context, release helmtrail.ReleaseRef, newest *decoder.Revision) (*Stuck, error) {
	if newest == nil || !decoder.Busy(newest.Status()) {
		return nil, nil
	}
	left, err := o.leftBy(ctx, release, newest)
	if err != nil {
		return nil, err
	}
	since := busySince(newest)
	if left == "" && time.Since(since) < o.setup.StuckAfter {
		return nil, nil
	}
	return &Stuck{
		Since: since, Suspected: left == "", By: left, ResourceVersion: newest.Secret.ResourceVersion,
		Strategies: strategies(newest.Status()),
	}, nil
}

// busySince returns when the revision entered its pending status.
func busySince(r *decoder.Revision) time.Time {
	switch {
	case r.Header == nil:
		return r.Created
	case r.Header.Status == decoder.StatusUninstalling && !r.Header.Deleted.IsZero():
		return r.Header.Deleted
	}
	return r.Header.LastDeployed
}

// strategies returns the recoveries that are possible from a status. An
// interrupted uninstall has already deleted objects, so it can only be
// repeated.
func strategies(status decoder.Status) []helmtrail.Strategy {
	if status == decoder.StatusUninstalling {
		return []helmtrail.Strategy{helmtrail.StrategyUninstall}
	}
	return []helmtrail.Strategy{helmtrail.StrategyRollback, helmtrail.StrategyMarkFailed, helmtrail.StrategyUninstall}
}

// leftBy returns the id of the ended session that left the revision in its
// current state, or "" if no session did.
func (o *Operations) leftBy(ctx context.Context, release helmtrail.ReleaseRef, newest *decoder.Revision) (string, error) {
	sessions, err := o.Sessions(ctx, release)
	if err != nil {
		return "", err
	}
	for _, s := range sessions {
		if left(s, newest) {
			return s.ID, nil
		}
	}
	return "", nil
}

// clockSlack is how much too early the creation time of a Secret may be,
// because it is truncated to whole seconds. The times in the record are exact.
const clockSlack = time.Second

// left reports whether the session put the revision into its current status:
// the status began while the session ran, and was still current when it ended.
// An operation that helm refused also finds another operation's pending
// revision at its end, but the status of that revision began earlier.
func left(s helmtrail.Session, r *decoder.Revision) bool {
	if s.Origin != helmtrail.OriginHelmtrail || s.End == nil {
		return false
	}
	since, began := busySince(r), s.StartedAt
	if r.Header == nil {
		began = began.Add(-clockSlack)
	}
	if since.Before(began) || since.After(*s.EndedAt) {
		return false
	}
	if s.End.Release == nil {
		return r.Session == s.ID // the release could not be read at the end
	}
	return s.End.Release.Revision == r.Number && s.End.Release.Status == r.Status()
}

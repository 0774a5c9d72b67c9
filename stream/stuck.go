package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// DefaultStuckAfter is Setup's StuckAfter when it is 0.
const DefaultStuckAfter = 10 * time.Minute

// Stuck says that a release was left in a pending status, or uninstalling, and
// that nobody is known to work on it.
type Stuck struct {
	Since time.Time `json:"since"`
	// Suspected means that it was somebody outside, who may be at work still.
	Suspected bool `json:"suspected"`
	// By is the session that left it, "" for somebody outside.
	By string `json:"by,omitempty"`
	// ResourceVersion is the stuck Secret's; a recovery that carries it goes
	// through only as long as nobody else has changed the Secret.
	ResourceVersion string               `json:"resourceVersion"`
	Strategies      []helmtrail.Strategy `json:"strategies"`
}

// Stuck reports how the release, whose newest revision is given, is stuck; nil
// when it is not.
func (o *Operations) Stuck(ctx context.Context, release helmtrail.ReleaseRef, newest *decoder.Revision) (*Stuck, error) {
	if _, ok := o.Running(release); ok {
		return nil, nil
	}
	return o.abandoned(ctx, release, newest)
}

// abandoned is Stuck for a release that no session of ours works on, or only
// one that has not run helm yet.
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
// interrupted uninstall has deleted objects already, so it can only be repeated.
func strategies(status decoder.Status) []helmtrail.Strategy {
	if status == decoder.StatusUninstalling {
		return []helmtrail.Strategy{helmtrail.StrategyUninstall}
	}
	return []helmtrail.Strategy{helmtrail.StrategyRollback, helmtrail.StrategyMarkFailed, helmtrail.StrategyUninstall}
}

// leftBy returns the id of our ended session that left the revision as it is, ""
// if none did.
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

// clockSlack is how much earlier than the truth a Secret's creation time may be,
// since it has whole seconds. The record's own times are exact.
const clockSlack = time.Second

// left reports whether the session has brought the revision into the status that
// it is in: the status began while the session ran, and stood when it ended.
// An operation that helm refused finds another's pending revision at its end
// too, but that began before.
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
		return r.Session == s.ID // the release could not be read then
	}
	return s.End.Release.Revision == r.Number && s.End.Release.Status == r.Status()
}

package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// DefaultStuckAfter is how old a pending status of somebody else's must be
// before the release counts as stuck.
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
	ResourceVersion string     `json:"resourceVersion"`
	Strategies      []Strategy `json:"strategies"`
}

// Stuck tells whether the release, whose newest revision is given, is stuck;
// nil when it is not.
func (o *Operations) Stuck(ctx context.Context, release ReleaseRef, newest *decoder.Revision) (*Stuck, error) {
	if newest == nil || !decoder.Busy(newest.Status()) {
		return nil, nil
	}
	if _, ok := o.Running(release); ok {
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

// busySince is when the revision came into its pending status.
func busySince(r *decoder.Revision) time.Time {
	switch {
	case r.Header == nil:
		return r.Created
	case r.Header.Status == decoder.StatusUninstalling && !r.Header.Deleted.IsZero():
		return r.Header.Deleted
	}
	return r.Header.LastDeployed
}

// strategies are the recoveries that can work from a status. An uninstall that
// was cut short has removed objects already, so nothing but its repetition
// makes sense.
func strategies(status decoder.Status) []Strategy {
	if status == decoder.StatusUninstalling {
		return []Strategy{StrategyUninstall}
	}
	return []Strategy{StrategyRollback, StrategyMarkFailed, StrategyUninstall}
}

// leftBy is the ended session of ours that left the revision as it is, "" if
// none did.
func (o *Operations) leftBy(ctx context.Context, release ReleaseRef, newest *decoder.Revision) (string, error) {
	sessions, err := o.Sessions(ctx, release)
	if err != nil {
		return "", err
	}
	for _, s := range sessions {
		if s.Origin != OriginHelmtrail {
			continue
		}
		if s.End == nil {
			return "", nil
		}
		if s.ID == newest.Session {
			return s.ID, nil
		}
		if r := s.End.Release; r != nil && r.Revision == newest.Number && r.Status == newest.Status() {
			return s.ID, nil
		}
		return "", nil // the last one of ours left it otherwise
	}
	return "", nil
}

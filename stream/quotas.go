package stream

import (
	"fmt"
	"time"

	"github.com/helmtrail/helmtrail"
)

// Quotas bound the operations that run at once, so that one tenant cannot block
// the others.
type Quotas struct {
	// Operations bounds the operations of the server; 0 means
	// DefaultMaxOperations.
	Operations int
	// PerNamespace bounds those in one namespace of a cluster, and PerUser those
	// of one user of a cluster; 0 means no limit. PerUser does not apply to
	// callers without a name.
	PerNamespace, PerUser int
	// Deadline bounds the deadline of each operation; 0 for no limit.
	Deadline time.Duration
}

// extra returns how many places there are beyond a limit. Only rollbacks,
// uninstalls and recoveries may take them: they end trouble, so they must not
// wait for the installs that cause it.
func extra(limit int) int { return max(1, limit/5) }

// adds reports whether an operation adds objects to the cluster. Such an
// operation cannot take an extra place.
func adds(request helmtrail.Request) bool {
	return request.Operation == helmtrail.OperationInstall || request.Operation == helmtrail.OperationUpgrade
}

// quota is one limit and the sessions that count towards it.
type quota struct {
	kind  helmtrail.QuotaKind
	limit int
	holds func(other *run) bool
}

// quotas returns the limits that apply to a session.
func (o *Operations) quotas(r *run) []quota {
	release, user := r.ref.Release, r.request.User.Name
	all := []quota{{helmtrail.QuotaServer, o.setup.Quotas.Operations, func(*run) bool { return true }}}
	if limit := o.setup.Quotas.PerNamespace; limit > 0 {
		all = append(all, quota{helmtrail.QuotaNamespace, limit, func(other *run) bool {
			return other.ref.Release.Cluster == release.Cluster && other.ref.Release.Namespace == release.Namespace
		}})
	}
	if limit := o.setup.Quotas.PerUser; limit > 0 && user != "" {
		all = append(all, quota{helmtrail.QuotaUser, limit, func(other *run) bool {
			return other.ref.Release.Cluster == release.Cluster && other.request.User.Name == user
		}})
	}
	return all
}

// checkQuotas returns a *helmtrail.QuotaError if there is no place for a session.
// o.mu must be held.
func (o *Operations) checkQuotas(r *run) error {
	for _, q := range o.quotas(r) {
		total, adding := 0, 0
		for _, other := range o.running {
			if !q.holds(other) {
				continue
			}
			total++
			if adds(other.request) {
				adding++
			}
		}
		if total >= q.limit+extra(q.limit) || adds(r.request) && adding >= q.limit {
			return &helmtrail.QuotaError{Kind: q.kind, Limit: q.limit}
		}
	}
	return nil
}

// limitDeadline refuses a request that asks for a later deadline than the largest.
// A request that sets neither a timeout nor a deadline gets the largest deadline
// if its default would be later.
func (q Quotas) limitDeadline(request *helmtrail.Request) error {
	options := &request.Options
	if q.Deadline == 0 || options.Deadline() <= q.Deadline {
		return nil
	}
	most := int(q.Deadline.Seconds())
	switch {
	case options.DeadlineSeconds > 0:
		return &helmtrail.InvalidError{Field: "options.deadlineSeconds", Message: fmt.Sprintf("must be at most %d on this server", most)}
	case options.TimeoutSeconds > 0:
		return &helmtrail.InvalidError{Field: "options.timeoutSeconds", Message: fmt.Sprintf("makes the deadline %d s, and this server allows at most %d; lower it or set deadlineSeconds",
			int(options.Deadline().Seconds()), most)}
	}
	options.DeadlineSeconds = most
	return nil
}

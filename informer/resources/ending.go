package resources

import (
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/health"
)

// End is what is known about the end of a Job that the cluster removes after its
// ttlSecondsAfterFinished.
type End string

const (
	// EndUnknown means that nobody saw the Job end.
	EndUnknown End = "unknown"
	// EndCompleted means that it had completed when its time was up.
	EndCompleted End = "completed"
	// EndFailed means that it had failed when its time was up.
	EndFailed End = "failed"
	// EndDeleted means that it was deleted before it ended, or before its time was
	// up. Its TTL is not the reason.
	EndDeleted End = "deleted"
)

const (
	// maxEndings bounds the Jobs whose end is remembered. If there are more, all
	// are forgotten.
	maxEndings = 10000
	// ttlSlack is the maximum difference between the clocks of helmtrail and the
	// API server that is not taken for a deletion by somebody.
	ttlSlack = 10 * time.Second
)

// ending is how a Job was when it was last seen.
type ending struct {
	end  End
	seen time.Time
	// due is when the cluster may remove it.
	due time.Time
	// message is why it has failed.
	message string
}

// endings remembers how the Jobs with a TTL have ended, by namespace and name, for
// as long as the process runs.
type endings struct {
	mu  sync.Mutex
	all map[string]ending
}

// observe notes the state of a Job that exists. Other objects are ignored.
func (e *endings) observe(o any) { e.note(o, false) }

// observeDeleted notes the last state of a Job that was deleted. It may be an
// earlier one if the deletion itself was missed.
func (e *endings) observeDeleted(o any) {
	if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		e.note(tombstone.Obj, false)
		return
	}
	e.note(o, true)
}

func (e *endings) note(o any, deleted bool) {
	job, ok := o.(*batchv1.Job)
	if !ok || job.Spec.TTLSecondsAfterFinished == nil {
		return
	}
	now := time.Now()
	last := endingOf(job)
	last.seen = now
	if deleted && now.Before(last.due.Add(-ttlSlack)) || deleted && last.end == "" {
		last.end = EndDeleted
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := storeKey(job.Namespace, job.Name)
	if last.end == "" {
		delete(e.all, key) // it runs
		return
	}
	if len(e.all) >= maxEndings {
		clear(e.all)
	}
	if e.all == nil {
		e.all = map[string]ending{}
	}
	e.all[key] = last
}

// endingOf returns how a Job has ended; its end is "" while it runs. The cluster
// removes it so many seconds after its last condition
// (k8s.io/kubernetes/pkg/controller/ttlafterfinished).
func endingOf(job *batchv1.Job) ending {
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue || c.Type != batchv1.JobComplete && c.Type != batchv1.JobFailed {
			continue
		}
		e := ending{end: EndCompleted, due: c.LastTransitionTime.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second)}
		if c.Type == batchv1.JobFailed {
			e.end, e.message = EndFailed, strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		}
		return e
	}
	return ending{}
}

// endOf returns how a Job that does not exist has ended, and why it has failed.
// What was seen before since is about an earlier run.
func (e *endings) endOf(namespace, name string, since time.Time) (End, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last, ok := e.all[storeKey(namespace, name)]
	switch {
	case !ok || last.seen.Before(since):
		return EndUnknown, ""
	case time.Now().Before(last.due.Add(-ttlSlack)):
		return EndDeleted, ""
	}
	return last.end, last.message
}

// EndOf returns how a Job with a ttlSecondsAfterFinished that does not exist has
// ended, from what helmtrail has seen of it after since.
func (t *Tracker) EndOf(namespace, name string, since time.Time) End {
	end, _ := t.endings.endOf(namespace, name, since)
	return end
}

// expiredRow returns the row of an object that does not exist and may have been
// removed by its TTL.
func (v *view) expiredRow(t *target, row health.Resource) health.Resource {
	end, why := v.lister.endOf(t, v.started)
	switch {
	case end == EndCompleted:
		row.Status, row.Current, row.Reason = statusCompleted, true, health.ReasonRemovedByTTL
		row.Message = "it completed, and was removed after its ttlSecondsAfterFinished"
	case end == EndFailed:
		row.Status, row.Reason = statusFailed, health.ReasonRemovedByTTL
		row.Message = "it failed, and was removed after its ttlSecondsAfterFinished: " + why
	case end == EndDeleted || v.pending:
		return missingRow(row)
	default:
		row.Status, row.Reason = statusUnknown, health.ReasonOutcomeUnknown
		row.Message = "it does not exist; it may have completed, failed or never run, because its ttlSecondsAfterFinished removes it"
		blameItself(&row, health.RankWaiting, health.ProblemUnknown, row.Reason, row.Message)
	}
	return row
}

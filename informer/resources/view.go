package resources

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

// lister returns the objects for a view: from the watches of a follower, or from a
// snapshot.
type lister interface {
	// object returns the target's object, nil if there is none.
	object(*target) (runtime.Object, error)
	// finalState returns the target's object as it was when it was deleted, nil
	// if that was not seen.
	finalState(*target) runtime.Object
	// endOf returns how the target's object has ended, which does not exist, and
	// why it has failed.
	endOf(t *target, since time.Time) (End, string)
	// indexer returns the objects of a place.
	indexer(place) (cache.Indexer, error)
}

// hookSlack is the maximum difference between the clocks of helm and the API
// server. A hook's object that is older than its revision by more belongs to an
// earlier revision.
const hookSlack = 10 * time.Second

// view computes the rows of a lister's objects. It remembers earlier states that
// are needed to understand the present ones.
type view struct {
	lister  lister
	started time.Time // of the revision, by helm's clock
	pending bool      // the record's status: helm may not have created all objects
	pulls   pullMemory
	// failures holds the row of the last failed pod of each Job. When a Job gives
	// up, its pods may be deleted.
	failures map[types.UID]health.Resource
	assessed map[types.UID]assessment
	// seen holds the objects that exist now; the others are forgotten.
	seen map[types.UID]bool
	// length is the number of rows last time.
	length int
}

// assessment is the row of one version of an object. It is kept because kstatus
// is slow and most objects do not change.
type assessment struct {
	version string
	row     health.Resource
	// helm4 is Helm 4's verdict, "" until it is needed. If Helm cannot judge the
	// object, helm4Error says why.
	helm4      health.HelmVerdict
	helm4Error string
	// assumed means that the object's status says nothing.
	assumed bool
}

func newView(record *decoder.Record, l lister) *view {
	return &view{
		lister: l, started: record.LastDeployed, pending: record.Status.IsPending(), pulls: pullMemory{},
		failures: map[types.UID]health.Resource{}, assessed: map[types.UID]assessment{}, seen: map[types.UID]bool{},
	}
}

// rows returns the rows of the targets, each followed by those of its dependents.
func (v *view) rows(targets []*target) []health.Resource {
	clear(v.seen)
	rows := make([]health.Resource, 0, v.length+v.length/8)
	for _, t := range targets {
		if row, object, ok := v.own(t); ok {
			rows = append(rows, row)
			rows = append(rows, v.below(t, &rows[len(rows)-1], object)...)
		}
	}
	for i := range rows {
		rows[i].State = stateOf(&rows[i])
	}
	v.length = len(rows)
	maps.DeleteFunc(v.assessed, func(uid types.UID, _ assessment) bool { return !v.seen[uid] })
	maps.DeleteFunc(v.failures, func(uid types.UID, _ health.Resource) bool { return !v.seen[uid] })
	maps.DeleteFunc(v.pulls, func(c containerKey, _ pullState) bool { return !v.seen[c.pod] })
	return rows
}

// own returns the target's own row, if it has one.
func (v *view) own(t *target) (row health.Resource, object runtime.Object, ok bool) {
	row = t.emptyRow(t.mapping != nil && t.mapping.Scope.Name() == meta.RESTScopeNameRoot)
	if t.problem != "" {
		row.Status, row.Reason, row.Message = statusUnknown, "Unreadable", t.problem
		return row, nil, true
	}
	err := t.err
	if t.mapping != nil {
		object, err = v.lister.object(t)
	}
	switch {
	case err != nil:
		row = unknownRow(row, err)
		if row.Reason != "NotYetKnown" {
			blameItself(&row, health.RankWaiting, health.ProblemUnknown, row.Reason, row.Message)
		}
		return row, nil, true
	case object != nil:
		return v.assess(t.kind, t, row, object), object, true
	case t.hook == "" && t.expires:
		return v.expiredRow(t, row), nil, true
	case t.hook == "":
		return missingRow(row), nil, true
	}
	row, ok = v.deletedHook(t, row)
	return row, nil, ok
}

// assess completes a row from the object itself. The target is nil for a
// dependent.
func (v *view) assess(k *kind, t *target, row health.Resource, object runtime.Object) health.Resource {
	named, err := meta.Accessor(object)
	if err != nil {
		return unknownRow(row, err)
	}
	v.seen[named.GetUID()] = true
	known, ok := v.assessed[named.GetUID()]
	if !ok || known.version != named.GetResourceVersion() {
		known = assessmentOf(k, row, object)
		known.version = named.GetResourceVersion()
		v.assessed[named.GetUID()] = known
	}
	row = known.row
	if t != nil && t.hook != "" {
		row.Old = !v.started.IsZero() && named.GetCreationTimestamp().Add(hookSlack).Before(v.started)
	}
	return row
}

// deletedHook returns the row of a hook whose object does not exist, if the hook
// has run.
func (v *view) deletedHook(t *target, row health.Resource) (health.Resource, bool) {
	if last := v.lister.finalState(t); last != nil {
		row = v.assess(t.kind, t, row, last)
		if row.Status != statusFailed {
			row.Status, row.Current, row.Reason, row.Message = statusCompleted, true, "", ""
		}
		return row, !row.Old
	}
	switch t.phase {
	case release.HookPhaseSucceeded:
		row.Status, row.Current = statusCompleted, true
		return row, true
	case release.HookPhaseFailed:
		row.Status, row.Reason, row.Message = statusFailed, "HookFailed", "the hook has failed and its object was deleted"
		return row, true
	}
	return row, false
}

// below completes a target's row from its dependents, finds the causes, and returns the
// dependents' rows.
func (v *view) below(t *target, row *health.Resource, object runtime.Object) []health.Resource {
	named, err := meta.Accessor(object)
	if object == nil || err != nil {
		if row.Status == statusFailed {
			v.blameOwn(t.kind, row, nil, nil)
		}
		return nil
	}
	var rows []health.Resource
	if len(t.below) > 0 {
		rows = t.kind.complete(v, owner{kind: t.kind, object: named, row: row, key: row.Key()})
	}
	if problem := v.missing(t); problem != "" {
		row.Message = strings.TrimPrefix(row.Message+"; what it owns cannot be read: "+problem, "; ")
		if row.Reason == "" {
			row.Reason = "Forbidden"
		}
	}
	switch {
	case row.Old || row.Hook == release.HookTest.String():
		exonerate(row, rows) // this run has no problem
	case v.assumesReady(named.GetUID(), rows):
		row.State, row.Status = health.StateWarning, statusWarning
	case row.State == health.StateWarning:
		blameItself(row, health.RankWarning, health.ProblemWarning, cmp.Or(row.Reason, statusWarning), row.Message)
	case row.Current:
		exonerate(row, rows)
		t.kind.warn(row, object)
	default:
		v.blameOwn(t.kind, row, named, rows)
	}
	if t.hook == "" {
		v.compareWithHelm(t.kind, row, object, named.GetUID())
	}
	return rows
}

// exonerate removes the causes of an object and its dependents.
func exonerate(row *health.Resource, rows []health.Resource) {
	row.Cause = health.Cause{}
	for i := range rows {
		rows[i].Cause = health.Cause{}
	}
}

// assumesReady reports whether an object counts as ready only because its status
// says nothing, while one of its dependents has a problem.
func (v *view) assumesReady(uid types.UID, rows []health.Resource) bool {
	return v.assessed[uid].row.State == health.StateReady && v.assessed[uid].assumed && slices.ContainsFunc(rows, func(r health.Resource) bool {
		return r.Cause.Reason != "" && r.Cause.Rank < health.RankWaiting
	})
}

// compareWithHelm says in the row of an object of the manifest where Helm judges it
// in another way. That Helm cannot judge it is a cause.
func (v *view) compareWithHelm(k *kind, row *health.Resource, object runtime.Object, uid types.UID) {
	content, err := asUnstructured(object, *row)
	if err != nil {
		return
	}
	known := v.assessed[uid]
	if known.helm4 == "" {
		if known.helm4, err = helm4Verdict(content); err != nil {
			known.helm4Error = err.Error()
		}
		v.assessed[uid] = known
	}
	helm := health.HelmWait{Helm3: helm3Verdict(k, content, row.Ready), Helm4: known.helm4}
	if helm.Disagrees(row.Current) {
		row.Helm = helm
	}
	if helm.Helm4 == health.HelmCannotJudge && row.Cause.Reason == "" {
		reason, message := row.Reason, row.Message
		blameItself(row, health.RankCondition, health.ProblemHelmCannotJudge, string(health.HelmCannotJudge), known.helm4Error)
		row.Reason, row.Message = reason, message // of the object itself
	}
}

// missing says why the target's dependents cannot be read, "" if they can.
func (v *view) missing(t *target) string {
	var problems []string
	for _, p := range t.below {
		if _, err := v.lister.indexer(p); err != nil && !errors.Is(err, errNotYet) {
			problems = append(problems, err.Error())
		}
	}
	slices.Sort(problems)
	return strings.Join(slices.Compact(problems), "; ")
}

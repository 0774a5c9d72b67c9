package resources

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// sight is where a view looks: the watches of a follower, or what a snapshot
// has read.
type sight interface {
	// object returns the target's object, nil if there is none.
	object(*target) (runtime.Object, error)
	// last returns how the target's object was when it was deleted, nil if
	// that was not seen.
	last(*target) runtime.Object
	// at returns the objects of a place.
	at(place) (cache.Indexer, error)
}

// hookSlack is how far the clocks of helm and the API server may be apart
// before the hook of this revision is taken for that of an earlier one.
const hookSlack = 10 * time.Second

// view makes rows of what it sees. It remembers what the objects said before,
// as far as that is needed to understand what they say now.
type view struct {
	sight   sight
	started time.Time // of the revision, by helm's clock
	pulls   pullMemory
	// failures is what the last failed pod of a Job ended with. When a Job gives
	// up its pods may be deleted.
	failures map[types.UID]stream.Resource
	assessed map[types.UID]assessment
	// seen holds what exists now; the rest is forgotten.
	seen map[types.UID]bool
	// length is how many rows there were last.
	length int
}

// assessment is the outcome for one version of an object, kept because
// kstatus is slow and most objects do not change.
type assessment struct {
	version string
	row     stream.Resource
}

func newView(record *decoder.Record, s sight) *view {
	return &view{
		sight: s, started: record.LastDeployed, pulls: pullMemory{},
		failures: map[types.UID]stream.Resource{}, assessed: map[types.UID]assessment{}, seen: map[types.UID]bool{},
	}
}

// rows returns the rows of the targets, each followed by those of what it owns.
func (v *view) rows(targets []*target) []stream.Resource {
	clear(v.seen)
	rows := make([]stream.Resource, 0, v.length+v.length/8)
	for _, t := range targets {
		if row, object, ok := v.own(t); ok {
			below := v.below(t, &row, object)
			rows = append(append(rows, row), below...)
		}
	}
	for i := range rows {
		rows[i].Message = cut(rows[i].Message)
	}
	v.length = len(rows)
	maps.DeleteFunc(v.assessed, func(uid types.UID, _ assessment) bool { return !v.seen[uid] })
	maps.DeleteFunc(v.failures, func(uid types.UID, _ stream.Resource) bool { return !v.seen[uid] })
	maps.DeleteFunc(v.pulls, func(c containerKey, _ pullState) bool { return !v.seen[c.pod] })
	return rows
}

// own makes the target's own row, if it has one.
func (v *view) own(t *target) (row stream.Resource, object runtime.Object, ok bool) {
	row = t.emptyRow(t.mapping != nil && t.mapping.Scope.Name() == meta.RESTScopeNameRoot)
	if t.problem != "" {
		row.Status, row.Reason, row.Message = statusUnknown, "Unreadable", t.problem
		return row, nil, true
	}
	err := t.err
	if t.mapping != nil {
		object, err = v.sight.object(t)
	}
	switch {
	case err != nil:
		row = unknownRow(row, err)
		if row.Reason != "NotYetKnown" {
			blameItself(&row, stream.RankWaiting, stream.ProblemUnknown, row.Reason, row.Message)
		}
		return row, nil, true
	case object != nil:
		return v.assess(t, row, object), object, true
	case t.hook == "":
		return missingRow(row), nil, true
	}
	row, ok = v.deletedHook(t, row)
	return row, nil, ok
}

// assess says how an object is, by itself.
func (v *view) assess(t *target, row stream.Resource, object runtime.Object) stream.Resource {
	named, err := meta.Accessor(object)
	if err != nil {
		return unknownRow(row, err)
	}
	v.seen[named.GetUID()] = true
	known, ok := v.assessed[named.GetUID()]
	if !ok || known.version != named.GetResourceVersion() {
		known = assessment{named.GetResourceVersion(), rowOf(row, object)}
		v.assessed[named.GetUID()] = known
	}
	row = known.row
	if t != nil && t.hook != "" {
		// Helm waits for a hook's end, not for its start.
		row.Current = row.Current && row.Status != statusProgressing
		row.Old = !v.started.IsZero() && named.GetCreationTimestamp().Add(hookSlack).Before(v.started)
	}
	return row
}

// deletedHook is the row of a hook whose object does not exist. It has none
// before it has run.
func (v *view) deletedHook(t *target, row stream.Resource) (stream.Resource, bool) {
	if last := v.sight.last(t); last != nil {
		row = v.assess(t, row, last)
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

// below makes the rows of what the target owns, completes the target's own row
// with what they tell, and finds the causes.
func (v *view) below(t *target, row *stream.Resource, object runtime.Object) []stream.Resource {
	owner, err := meta.Accessor(object)
	if object == nil || err != nil {
		if row.Status == statusFailed {
			v.blameOwn(row, nil, nil)
		}
		return nil
	}
	var rows []stream.Resource
	switch o := object.(type) {
	case *corev1.Pod:
		old := row.Old
		*row = v.podRow(o, *row)
		row.Old = old
	case *corev1.PersistentVolumeClaim:
		*row = v.claimRow(o, *row)
	case *batchv1.Job:
		rows = v.jobRows(o, row)
	default:
		if len(t.below) > 0 {
			rows = v.workloadRows(owner, object, row)
		}
	}
	if problem := v.missing(t); problem != "" {
		row.Message = strings.TrimPrefix(row.Message+"; what it owns cannot be read: "+problem, "; ")
		if row.Reason == "" {
			row.Reason = "Forbidden"
		}
	}
	if row.Old || row.Hook == release.HookTest.String() || row.Status == statusReady || row.Status == statusCompleted {
		// Nothing is wrong with it any more, or not with this run.
		row.Cause = stream.Cause{}
		for i := range rows {
			rows[i].Cause = stream.Cause{}
		}
		blameAddress(row, object)
		return rows
	}
	v.blameOwn(row, owner, rows)
	return rows
}

// workloadRows are those of ReplicaSets, Jobs, pods and claims.
func (v *view) workloadRows(owner metav1.Object, object runtime.Object, row *stream.Resource) []stream.Resource {
	var rows []stream.Resource
	ready, counted := 0, false
	add := func(pods []stream.Resource) {
		for _, pod := range pods {
			counted = true
			if pod.Current && !pod.Old {
				ready++
			}
		}
		rows = append(rows, pods...)
	}
	if replicated(object) {
		revision := owner.GetAnnotations()[revisionAnnotation]
		row.Revision = rolloutOf(owner)
		for _, set := range v.sets(owner, revision) {
			setRow := v.assess(nil, ownedRow(appsv1.SchemeGroupVersion.String(), "ReplicaSet", set, row.Key()), set)
			setRow.Old, setRow.Revision = !newest(revision, set), rolloutOf(set)
			if !setRow.Old {
				v.blameCreation(&setRow, set, int(set.Status.Replicas) < setRow.Total)
			}
			rows = append(rows, setRow)
			add(v.podRows(set, setRow.Key(), setRow.Old, nil))
		}
	}
	for _, job := range v.jobs(owner) {
		jobRow := v.assess(nil, ownedRow(batchv1.SchemeGroupVersion.String(), "Job", job, row.Key()), job)
		rows = append(rows, jobRow)
		rows = append(rows, v.jobRows(job, &rows[len(rows)-1])...)
	}
	old := olderPods(object)
	pods := ownedBy[*corev1.Pod](v, podsResource, owner.GetNamespace(), owner.GetUID())
	if row.Kind == "StatefulSet" {
		for _, claim := range v.claims(owner, pods) {
			rows = append(rows, v.claimRow(claim, v.assess(nil, ownedRow("v1", "PersistentVolumeClaim", claim, row.Key()), claim)))
		}
	}
	add(v.podRows(owner, row.Key(), false, old))
	if counted && row.Total > 0 {
		row.Ready = min(ready, row.Total)
	}
	return rows
}

// ownedRow names an object that another row's object owns.
func ownedRow(apiVersion, kind string, o metav1.Object, owner string) stream.Resource {
	return stream.Resource{Kind: kind, APIVersion: apiVersion, Namespace: o.GetNamespace(), Name: o.GetName(), Owner: owner}
}

// podRows are those of an owner's pods, the bad ones first. Old says that all
// are of an older generation, older which of them are.
func (v *view) podRows(owner metav1.Object, key string, old bool, older func(*corev1.Pod) bool) []stream.Resource {
	var rows []stream.Resource
	for _, pod := range ownedBy[*corev1.Pod](v, podsResource, owner.GetNamespace(), owner.GetUID()) {
		row := v.podRow(pod, ownedRow("v1", "Pod", pod, key))
		if row.Old = old || older != nil && older(pod); row.Old {
			row.Cause = stream.Cause{}
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b stream.Resource) int {
		return cmp.Or(
			cmp.Compare(rank(!a.Old), rank(!b.Old)),
			cmp.Compare(rank(a.Cause.Reason != ""), rank(b.Cause.Reason != "")),
			cmp.Compare(a.Cause.Rank, b.Cause.Rank),
			cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// podRow says how a Pod is.
func (v *view) podRow(pod *corev1.Pod, row stream.Resource) stream.Resource {
	v.seen[pod.UID] = true
	pod = v.pulls.steady(pod)
	row.Status, row.Restarts = podWord(pod), restarts(pod)
	row.Current = pod.DeletionTimestamp == nil && (podReady(pod) || pod.Status.Phase == corev1.PodSucceeded)
	row.Reason, row.Message = "", ""
	if !row.Current && pod.DeletionTimestamp == nil {
		blamePod(&row, pod, v.events(pod.Namespace, pod.UID, warnings))
	}
	return row
}

// olderPods tells the pods of an older generation of a StatefulSet or a
// DaemonSet, nil where there is no telling.
func olderPods(object runtime.Object) func(*corev1.Pod) bool {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	label, now := "", ""
	switch o.GetKind() {
	case "StatefulSet":
		label = appsv1.ControllerRevisionHashLabelKey
		now, _, _ = unstructured.NestedString(o.Object, "status", "updateRevision")
	case "DaemonSet":
		label, now = templateGenerationLabel, o.GetAnnotations()[appsv1.DeprecatedTemplateGeneration]
	}
	if now == "" {
		return nil
	}
	return func(pod *corev1.Pod) bool { return pod.Labels[label] != "" && pod.Labels[label] != now }
}

// replicated tells whether an object may own ReplicaSets.
func replicated(object runtime.Object) bool {
	o, ok := object.(*unstructured.Unstructured)
	return ok && (o.GetKind() == "Deployment" || !builtIn(o.GroupVersionKind().Group))
}

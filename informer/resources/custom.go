package resources

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmtrail/helmtrail/health"
)

// The conditions by which most controllers say how an object is.
var (
	// summaries say that the object as a whole is usable. The first that exists
	// decides.
	summaries = []string{conditionReady, "Available", "Healthy", "Succeeded"}
	// faults say that something is wrong.
	faults = []string{"Degraded", "Failed", "Failure", "Error", "ErrorOccurred"}
	// parts say that a part of the work is done. One that is false is a fault
	// (Crossplane, the Prometheus operator).
	parts = []string{"Available", "Healthy", "Synced", "Installed", "Reconciled"}
)

const (
	conditionReady       = "Ready"
	conditionNotReady    = "NotReady"
	conditionProgressing = "Progressing"
	conditionReconciling = "Reconciling"
	conditionStalled     = "Stalled"
	conditionWarning     = "Warning"
)

// judgeByStatus judges an object of a kind that kstatus has no rules for by its
// conditions and its phase. What nothing decides is left to kstatus.
func judgeByStatus(object *unstructured.Unstructured) (judgement, error) {
	if j, decided := judgeLifecycle(object); decided {
		return j, nil
	}
	rule := ruleFor(object.GroupVersionKind().GroupKind())
	phase := rule.phaseOf(object)
	if rule.phaseDecides && phase.state != "" {
		return phase, nil
	}
	var judgements []judgement
	for _, all := range rule.conditionsOf(object) {
		judgements = append(judgements, rule.judge(all))
	}
	j := rule.withPhase(combine(judgements), phase)
	switch {
	case j.state != "":
		return j, nil
	case rule.required:
		return judged(health.StateProgressing, reasonNoStatus, messageNoStatus), nil
	}
	return judgeByReplicas(object), nil
}

// judgeByReplicas judges an object that has no condition and no phase by the
// replicas that it counts, as the workloads of OpenKruise do.
func judgeByReplicas(object *unstructured.Unstructured) judgement {
	if readyPods, _, wanted := countDeclared(object); readyPods < wanted {
		return judged(health.StateProgressing, "LessReady", "")
	}
	if j, err := judgeByKstatus(object); err == nil {
		j.assumed = j.state == health.StateReady
		return j
	}
	// kstatus fails if a field has another type than it expects. That says nothing
	// about the object.
	j := ready()
	j.assumed = true
	return j
}

// judge returns the judgement of one list of conditions. Its state is "" if they
// do not decide.
func (r customRule) judge(all conditions) judgement {
	summary := all.first(r.summary)
	if stalled := all.get(conditionStalled); stalled.is(corev1.ConditionTrue) {
		return stalled.judged(health.StateFailed)
	}
	if reconciling := all.get(conditionReconciling); reconciling.is(corev1.ConditionTrue) {
		if summary.is(corev1.ConditionFalse) {
			return summary.judged(health.StateProgressing) // with its reason
		}
		return reconciling.judged(health.StateProgressing)
	}
	usable := summary.is(corev1.ConditionTrue) || summary.is(conditionDegraded)
	fault := r.fault(all, summary)
	progressing := all.get(conditionProgressing)
	switch {
	case progressing.is(corev1.ConditionFalse) && progressing.namesFailure():
		return progressing.judged(health.StateFailed)
	case usable && summary.kind != conditionReady && progressing.is(corev1.ConditionTrue) && !completes(progressing):
		return progressing.judged(health.StateProgressing)
	case usable && fault != nil:
		return fault.judged(health.StateWarning)
	case usable:
		return ready()
	case fault != nil && (fault.status != corev1.ConditionFalse || fault.namesFailure()):
		return fault.judged(health.StateFailed)
	case summary.is(corev1.ConditionFalse) && (r.falseFails || summary.namesFailure()):
		return summary.judged(health.StateFailed)
	case summary != nil:
		return summary.judged(health.StateProgressing)
	case progressing.is(corev1.ConditionTrue) && !completes(progressing):
		return progressing.judged(health.StateProgressing)
	}
	return r.judgeNotReady(all)
}

// fault returns a condition that complains, nil if there is none.
func (r customRule) fault(all conditions, summary *statusCondition) *statusCondition {
	if c := all.firstWith(corev1.ConditionTrue, slices.Concat(faults, r.faults)); c != nil {
		return c
	}
	if summary.is(conditionDegraded) {
		return summary
	}
	for _, kind := range slices.Concat(parts, r.parts) {
		c := all.get(kind)
		if c.is(corev1.ConditionFalse) && c != summary && !slices.Contains(r.harmless, c.reason) {
			return c
		}
	}
	if summary.is(corev1.ConditionTrue) {
		for i := range all {
			if c := &all[i]; c.advisory && c.status == corev1.ConditionFalse || c.kind == conditionWarning && c.status == corev1.ConditionTrue {
				return c
			}
		}
	}
	return nil
}

// judgeNotReady judges by the condition NotReady, which Strimzi sets in place of
// Ready (https://strimzi.io/docs/operators/latest/configuring#type-Condition-reference).
func (r customRule) judgeNotReady(all conditions) judgement {
	c := all.get(conditionNotReady)
	switch {
	case !c.is(corev1.ConditionTrue):
		return judgement{}
	case c.reason == "Creating" || c.reason == "":
		return c.judged(health.StateProgressing)
	}
	return c.judged(health.StateFailed)
}

// judged returns the judgement of a state whose reason is the condition.
func (c *statusCondition) judged(state health.State) judgement {
	return judged(state, cmp.Or(c.reason, c.kind), c.message)
}

// combine returns the judgement of an object that has several lists of conditions,
// one for each router, for example: usable if one of them is.
func combine(judgements []judgement) judgement {
	var worst judgement
	usable := false
	for _, j := range judgements {
		usable = usable || j.current()
		if severity[j.state] > severity[worst.state] {
			worst = j
		}
	}
	if worst.state == health.StateFailed && usable {
		return judged(health.StateWarning, worst.reason, worst.message)
	}
	return worst
}

// severity orders states for combine.
var severity = map[health.State]int{
	health.StateReady: 1, health.StateWarning: 2, health.StateProgressing: 3, health.StateUnknown: 4, health.StateFailed: 5,
}

// withPhase adds what the phase says to the judgement of the conditions. Ready is
// trusted more than a phase, which may be that of the last operation.
func (r customRule) withPhase(j, phase judgement) judgement {
	switch {
	case j.state == "":
		return phase
	case phase.state == health.StateFailed && j.state == health.StateReady:
		return judged(health.StateWarning, phase.reason, phase.message)
	case phase.state == health.StateFailed && j.state == health.StateProgressing:
		return judged(health.StateFailed, cmp.Or(phase.reason, j.reason), cmp.Or(phase.message, j.message))
	}
	return j
}

// phaseOf returns the judgement of an object's phase. Its state is "" if the object
// has none, or the word is not known.
func (r customRule) phaseOf(object *unstructured.Unstructured) judgement {
	for _, path := range r.phases {
		said := text(field(object, path...))
		if said == "" {
			continue
		}
		state := r.stateOfPhase(said, object.GetKind())
		if state == "" || state == health.StateReady {
			return judgement{state: state, status: statusOfState[state]}
		}
		message := cmp.Or(text(field(object, "status", "message")), text(field(object, "status", "phaseReason")), text(field(object, "status", "reason")))
		if strings.ContainsAny(said, " ") { // a sentence is no reason
			return judged(state, "", strings.TrimSuffix(said+": "+message, ": "))
		}
		return judged(state, said, message)
	}
	return judgement{}
}

// stateOfPhase returns the state that a phase means for a kind, "" if it is not
// known.
func (r customRule) stateOfPhase(said, kind string) health.State {
	word := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(said))
	if state, ok := r.words[word]; ok {
		return state
	}
	if word == "running" && slices.ContainsFunc(endingKinds, func(suffix string) bool { return strings.HasSuffix(kind, suffix) }) {
		return health.StateProgressing
	}
	return phaseWords[word]
}

// phaseWords holds the words that controllers use for the phase of an object, in
// lower case and without separators.
var phaseWords = stateWords(map[health.State]string{
	health.StateReady: "ready running active available healthy succeeded success successful completed complete bound deployed " +
		"established provisioned online synced installed enabled valid ok operational finished done",
	health.StateProgressing: "pending progressing creating provisioning initializing initialising installing updating upgrading " +
		"reconciling starting inprogress deploying waiting scaling scalingup scalingdown terminating deleting paused suspended new " +
		"queued configuring bootstrapping restarting migrating restoring stopping notready missing applyingchanges",
	health.StateFailed: "failed failure error errored degraded unhealthy invalid broken crashed rejected lost offline unavailable " +
		"stalled partiallyfailed failedvalidation",
	health.StateUnknown: "unknown",
})

// stateWords turns lists of words into a table.
func stateWords(lists map[health.State]string) map[string]health.State {
	table := map[string]health.State{}
	for state, list := range lists {
		for _, word := range strings.Fields(list) {
			table[word] = state
		}
	}
	return table
}

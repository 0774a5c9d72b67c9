package resources

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/health"
)

// blame sets the row's cause to a sentence about its object, and the row's reason
// and message with it.
func blame(row *health.Resource, rank health.Rank, s health.Sentence, message string) *health.Cause {
	s.Object = health.ObjectRef{Kind: row.Kind, Namespace: row.Namespace, Name: row.Name}
	row.Reason, row.Message, row.Container = s.Reason, message, s.Container
	row.Cause = health.Cause{Sentence: s, Message: message, Text: s.English(), Rank: rank}
	return &row.Cause
}

// blameItself is blame for a sentence about the object as a whole.
func blameItself(row *health.Resource, rank health.Rank, problem health.Problem, reason, message string) *health.Cause {
	return blame(row, rank, health.Sentence{Problem: problem, Reason: reason, Detail: message}, message)
}

// blameOwn finds the cause in a target's own state if none of its dependents has
// one.
func (v *view) blameOwn(k *kind, row *health.Resource, owner metav1.Object, rows []health.Resource) {
	deeper := slices.ContainsFunc(rows, func(r health.Resource) bool { return r.Cause.Reason != "" && r.Cause.Rank < health.RankWaiting })
	waiting := slices.ContainsFunc(rows, func(r health.Resource) bool { return r.Cause.Reason != "" })
	if row.Cause.Reason != "" {
		return
	}
	if owner != nil && len(rows) < row.Total {
		k.blameShortage(v, row, owner)
		if row.Cause.Reason != "" {
			return
		}
	}
	switch {
	case row.Reason == reasonDeadline:
		blameItself(row, health.RankStalled, health.ProblemNoProgress, row.Reason, row.Message)
	case row.Status == statusFailed && !deeper:
		blameItself(row, health.RankCondition, health.ProblemFailed, cmp.Or(row.Reason, health.WordFailed), row.Message)
	case row.Status == statusTerminating && owner != nil:
		blameItself(row, health.RankWaiting, health.ProblemDeleting, statusTerminating, strings.Join(owner.GetFinalizers(), ", "))
	case row.Status == statusProgressing && !waiting:
		reason := row.Reason
		blameItself(row, health.RankWaiting, k.unready, cmp.Or(reason, health.WordNotReady), row.Message)
		row.Reason = reason // a running Job has none
	}
}

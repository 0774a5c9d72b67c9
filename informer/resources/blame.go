package resources

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/stream"
)

// blame sets the row's cause to a sentence about its object, and the row's reason
// and message with it.
func blame(row *stream.Resource, rank stream.Rank, s stream.Sentence, message string) *stream.Cause {
	message, s.Detail = cut(message), cut(s.Detail)
	s.Object = stream.ObjectRef{Kind: row.Kind, Namespace: row.Namespace, Name: row.Name}
	row.Reason, row.Message, row.Container = s.Reason, message, s.Container
	row.Cause = stream.Cause{Sentence: s, Message: message, Text: s.English(), Rank: rank}
	return &row.Cause
}

// blameItself is blame for a sentence about the object as a whole.
func blameItself(row *stream.Resource, rank stream.Rank, problem stream.Problem, reason, message string) *stream.Cause {
	return blame(row, rank, stream.Sentence{Problem: problem, Reason: reason, Detail: message}, message)
}

// longest bounds a message, in bytes. A container may end with one of 4 KB, and an
// event holds the messages of many.
const longest = 1200

// cut shortens a message to longest bytes. It cuts between words if it can: secrets
// are masked later, and half of one would not be recognized.
func cut(s string) string {
	const more = " ..."
	if len(s) <= longest {
		return s
	}
	kept := s[:longest-len(more)]
	if end := strings.LastIndexAny(kept, " \t\n\"',;"); end > len(kept)/2 {
		kept = kept[:end]
	}
	return strings.ToValidUTF8(kept, "") + more
}

// blameOwn finds the cause in a target's own state if none of its dependents has
// one.
func (v *view) blameOwn(k *kind, row *stream.Resource, owner metav1.Object, rows []stream.Resource) {
	deeper := slices.ContainsFunc(rows, func(r stream.Resource) bool { return r.Cause.Reason != "" && r.Cause.Rank < stream.RankWaiting })
	waiting := slices.ContainsFunc(rows, func(r stream.Resource) bool { return r.Cause.Reason != "" })
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
		blameItself(row, stream.RankStalled, stream.ProblemNoProgress, row.Reason, row.Message)
	case row.Status == statusFailed && !deeper:
		blameItself(row, stream.RankCondition, stream.ProblemFailed, cmp.Or(row.Reason, stream.WordFailed), row.Message)
	case row.Status == statusTerminating && owner != nil:
		blameItself(row, stream.RankWaiting, stream.ProblemDeleting, statusTerminating, strings.Join(owner.GetFinalizers(), ", "))
	case row.Status == statusProgressing && !waiting:
		reason := row.Reason
		blameItself(row, stream.RankWaiting, k.unready, cmp.Or(reason, stream.WordNotReady), row.Message)
		row.Reason = reason // a running Job has none
	}
}

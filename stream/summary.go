package stream

import (
	"cmp"
	"slices"

	"github.com/helmtrail/helmtrail/health"
)

// maxCauses bounds the causes of one summary. Who reads on after so many has
// read the rows.
const maxCauses = 20

// Summarize counts the rows of a snapshot, those that may not be seen left out,
// and gathers what is wrong with them.
func Summarize(rows []health.Resource) health.Summary {
	summary := health.Summary{Causes: []health.Cause{}}
	for _, row := range rows {
		if row.Owner == "" && row.Hook == "" && row.Status != health.StatusForbidden {
			summary.Total++
			if row.Current {
				summary.Ready++
			}
		}
	}
	for _, cause := range causesOf(rows) {
		if cause.Rank < health.RankWaiting && len(summary.Causes) < maxCauses {
			summary.Causes = append(summary.Causes, cause)
		}
	}
	return summary
}

// causesOf returns the causes of the rows: those that cannot heal first, then
// by rank, else in the order of the rows. Objects of one owner that have the
// same trouble are one cause.
func causesOf(rows []health.Resource) []health.Cause {
	type kind struct{ owner, container, reason string }
	merged := map[kind]int{}
	var causes []health.Cause
	for _, row := range rows {
		if row.Cause.Reason == "" {
			continue
		}
		k := kind{row.Owner, row.Cause.Container, row.Cause.Reason}
		if k.owner == "" {
			k.owner = row.Key()
		}
		at, known := merged[k]
		if !known {
			merged[k] = len(causes)
			causes = append(causes, row.Cause)
			continue
		}
		first := &causes[at]
		first.Count = max(first.Count, 1) + 1
		first.Final = first.Final || row.Cause.Final
	}
	slices.SortStableFunc(causes, compareCauses)
	return causes
}

// compareCauses puts what cannot heal first, and else what others follow from.
func compareCauses(a, b health.Cause) int {
	if a.Final != b.Final {
		if a.Final {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Rank, b.Rank)
}

// refined adds to the causes that stood when helm gave up those of a moment
// later that cannot heal: helm may know of a Job's end before it is seen here.
// One that tells more of the same container takes the other's place.
func refined(standing, later []health.Cause) []health.Cause {
	all := slices.Clone(standing)
	for _, cause := range later {
		same := func(other health.Cause) bool {
			return other.Object == cause.Object && other.Reason == cause.Reason || cause.Source.Pod != "" && other.Source == cause.Source
		}
		if !cause.Final {
			continue
		}
		all = append(slices.DeleteFunc(all, same), cause)
	}
	slices.SortStableFunc(all, compareCauses)
	return all
}

// gaveUp returns the causes of an operation that has failed: what merely waits
// counts only when nothing else is known.
func gaveUp(causes []health.Cause) []health.Cause {
	given := []health.Cause{}
	for _, cause := range causes {
		if len(given) < maxCauses && (cause.Rank < health.RankWaiting || !telling(causes)) {
			given = append(given, cause)
		}
	}
	return given
}

// telling reports whether causes tell more than that something waits.
func telling(causes []health.Cause) bool {
	return slices.ContainsFunc(causes, func(c health.Cause) bool { return c.Rank < health.RankWaiting })
}

package stream

import (
	"cmp"
	"slices"

	"github.com/helmtrail/helmtrail/health"
)

// maxCauses is the maximum number of causes in a summary. More would not be read:
// the rows have the same.
const maxCauses = 20

// Summarize counts the rows of a snapshot, without forbidden ones, and collects
// their causes.
func Summarize(rows []health.Resource) health.Summary {
	summary := health.Summary{Causes: []health.Cause{}}
	for _, row := range rows {
		if row.Owner == "" && row.Hook == "" && row.Status != health.StatusForbidden {
			summary.Total++
			if row.Current {
				summary.Ready++
			}
			if row.State == health.StateWarning {
				summary.Warnings++
			}
		}
	}
	for _, cause := range causesOf(rows) {
		if cause.Rank != health.RankWaiting && len(summary.Causes) < maxCauses {
			summary.Causes = append(summary.Causes, cause)
		}
	}
	return summary
}

// causesOf returns the causes of the rows: final ones first, then by rank,
// otherwise in the order of the rows. Objects of one owner with the same problem
// are one cause.
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

// compareCauses sorts final causes first, and then by rank.
func compareCauses(a, b health.Cause) int {
	if a.Final != b.Final {
		if a.Final {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Rank, b.Rank)
}

// refined adds final causes of a moment later to those that stood when helm gave
// up: helm may know of a Job's end before the watch sees it. A later cause with
// more details about the same container replaces the earlier one.
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

// gaveUp returns the causes of a failed operation. Causes that only say that
// something is waiting are used if there are no others. Warnings are about objects
// that Helm does not wait for.
func gaveUp(causes []health.Cause) []health.Cause {
	given := []health.Cause{}
	for _, cause := range causes {
		if len(given) < maxCauses && (cause.Rank < health.RankWaiting || cause.Rank == health.RankWaiting && !telling(causes)) {
			given = append(given, cause)
		}
	}
	return given
}

// telling reports whether any cause says more than that something is waiting.
func telling(causes []health.Cause) bool {
	return slices.ContainsFunc(causes, func(c health.Cause) bool { return c.Rank < health.RankWaiting })
}

package stream

import (
	"cmp"
	"slices"
)

// Rank orders causes: what others follow from comes first.
type Rank int

const (
	// RankContainer is for a container that cannot be started or has failed.
	RankContainer Rank = iota + 1
	// RankCreate is for pods that cannot be created.
	RankCreate
	// RankVolume is for a volume that is not there.
	RankVolume
	// RankSchedule is for a Pod that no node takes.
	RankSchedule
	// RankStart is for a Pod that its node cannot prepare.
	RankStart
	// RankProbe is for a container that runs but does not pass its probe.
	RankProbe
	// RankStalled is for a workload that has not progressed for too long.
	RankStalled
	// RankCondition is for an object that itself says that it failed.
	RankCondition
	// RankWaiting is for what merely is not ready yet. While the operation runs
	// that is no cause for concern; when it has failed it may be all that is known.
	RankWaiting
)

// maxCauses bounds the causes of one summary. Who reads on after so many has
// read the rows.
const maxCauses = 20

// Summarize counts the rows of a snapshot, those that may not be seen left out,
// and gathers what is wrong with them.
func Summarize(rows []Resource) Summary {
	summary := Summary{Causes: []Cause{}}
	for _, row := range rows {
		if row.Owner == "" && row.Hook == "" && row.Status != StatusForbidden {
			summary.Total++
			if row.Current {
				summary.Ready++
			}
		}
	}
	for _, cause := range causesOf(rows) {
		if cause.Rank < RankWaiting && len(summary.Causes) < maxCauses {
			summary.Causes = append(summary.Causes, cause)
		}
	}
	return summary
}

// Masked returns the row with what Kubernetes says about it masked: a message
// may quote what a container wrote.
func (r Resource) Masked(mask func(string) string) Resource {
	c := &r.Cause
	for _, text := range []*string{&r.Message, &c.Message, &c.Text, &c.Image, &c.Detail, &c.Because.Image, &c.Because.Detail} {
		if *text != "" {
			*text = mask(*text)
		}
	}
	return r
}

// causesOf returns the causes of the rows: those that cannot heal first, then
// by rank, else in the order of the rows. Objects of one owner that have the
// same trouble are one cause.
func causesOf(rows []Resource) []Cause {
	type kind struct{ owner, container, reason string }
	merged := map[kind]int{}
	var causes []Cause
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
func compareCauses(a, b Cause) int {
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
func refined(standing, later []Cause) []Cause {
	all := slices.Clone(standing)
	for _, cause := range later {
		same := func(other Cause) bool {
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
func gaveUp(causes []Cause) []Cause {
	given := []Cause{}
	for _, cause := range causes {
		if len(given) < maxCauses && (cause.Rank < RankWaiting || !telling(causes)) {
			given = append(given, cause)
		}
	}
	return given
}

// telling reports whether causes tell more than that something waits.
func telling(causes []Cause) bool {
	return slices.ContainsFunc(causes, func(c Cause) bool { return c.Rank < RankWaiting })
}

package history

import (
	"fmt"
	"slices"

	"github.com/helmtrail/helmtrail/decoder"
)

// anomalies returns the inconsistencies of a revision with itself and with the others.
func (k *revisions) anomalies(item Item, r *decoder.Revision, f recordFacts) []decoder.Anomaly {
	found := []decoder.Anomaly{}
	add := func(code decoder.AnomalyCode, message string, args ...any) {
		found = append(found, decoder.Anomaly{Code: code, Message: fmt.Sprintf(message, args...)})
	}
	if item.Problem != "" && !item.Erased {
		add(decoder.AnomalyUnreadable, "The record cannot be read: %s", item.Problem)
	}
	for _, one := range f.disagreements {
		// A deleted revision may have been seen with a later status than that of
		// its last record.
		if one.Code != decoder.AnomalyLabelStatus || item.Gone == nil {
			found = append(found, one)
		}
	}
	if top := k.live(); item.Gone == nil && item.Status == decoder.StatusDeployed && top != nil && top.Number > r.Number {
		add(decoder.AnomalyAlsoDeployed, "Revision %d is also deployed, and is the one in effect.", top.Number)
	}
	at := slices.Index(k.all, r)
	if at > 0 && k.all[at-1].Number == r.Number || at+1 < len(k.all) && k.all[at+1].Number == r.Number {
		add(decoder.AnomalyDuplicate, "Another Secret holds this revision too.")
	}
	if at+1 < len(k.all) && k.all[at+1].Number < r.Number-1 {
		add(decoder.AnomalyGap, "Revisions %d to %d are not in the cluster.", k.all[at+1].Number+1, r.Number-1)
	}
	return found
}

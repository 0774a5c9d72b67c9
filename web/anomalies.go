package web

import (
	"fmt"
	"slices"

	"github.com/helmtrail/helmtrail/decoder"
)

// anomaly is something that an orderly history does not have. It is shown and
// never repaired.
type anomaly struct {
	Code    anomalyCode `json:"code"`
	Message string      `json:"message"`
}

type anomalyCode string

const (
	// anomalyUnreadable means that the record cannot be decoded.
	anomalyUnreadable anomalyCode = "unreadable"
	// anomalyLabelStatus means that the Secret's label has another status than
	// the record, which Helm goes by.
	anomalyLabelStatus anomalyCode = "label_status"
	// anomalyName, anomalyNamespace and anomalyRevision mean that the record
	// says to be of another release or revision than its Secret.
	anomalyName      anomalyCode = "name"
	anomalyNamespace anomalyCode = "namespace"
	anomalyRevision  anomalyCode = "revision"
	// anomalyAlsoDeployed means that a later revision is deployed too.
	anomalyAlsoDeployed anomalyCode = "also_deployed"
	// anomalyDuplicate means that two Secrets hold the same revision.
	anomalyDuplicate anomalyCode = "duplicate"
	// anomalyGap means that revisions right before this one are missing while
	// older ones are there.
	anomalyGap anomalyCode = "gap"
)

// anomalies are what is odd about one revision among the others.
func (h *history) anomalies(item historyItem, r *decoder.Revision, f facts) []anomaly {
	all := h.revisions
	found := []anomaly{}
	add := func(code anomalyCode, message string, args ...any) {
		found = append(found, anomaly{code, fmt.Sprintf(message, args...)})
	}
	if item.Problem != "" && !item.Erased {
		add(anomalyUnreadable, "The record cannot be read: %s", item.Problem)
	}
	if item.LabelStatus != "" {
		add(anomalyLabelStatus, "The Secret's label says %s, the record %s. Helm goes by the record.", item.LabelStatus, item.Status)
	}
	if f.problem == "" {
		if f.recordName != r.Name {
			add(anomalyName, "The record says that its release is %q.", f.recordName)
		}
		if f.recordNamespace != r.Namespace {
			add(anomalyNamespace, "The record says that its namespace is %q.", f.recordNamespace)
		}
		if f.recordRevision != r.Number {
			add(anomalyRevision, "The record says that it is revision %d.", f.recordRevision)
		}
	}
	if top := h.live(); item.Gone == nil && item.Status == decoder.StatusDeployed && top != nil && top.Number > r.Number {
		add(anomalyAlsoDeployed, "Revision %d is deployed too, and counts.", top.Number)
	}
	at := slices.Index(all, r)
	if at > 0 && all[at-1].Number == r.Number || at+1 < len(all) && all[at+1].Number == r.Number {
		add(anomalyDuplicate, "Another Secret holds this revision too.")
	}
	if at+1 < len(all) && all[at+1].Number < r.Number-1 {
		add(anomalyGap, "Revisions %d to %d are not in the cluster.", all[at+1].Number+1, r.Number-1)
	}
	return found
}

package decoder

import "fmt"

// Anomaly is an irregularity in a release's history. It is shown and never
// repaired.
type Anomaly struct {
	Code AnomalyCode `json:"code"`
	// Message describes the anomaly to people.
	Message string `json:"message"`
}

// AnomalyCode identifies the kind of an anomaly to programs.
type AnomalyCode string

const (
	// AnomalyUnreadable means that the record cannot be decoded.
	AnomalyUnreadable AnomalyCode = "unreadable"
	// AnomalyLabelStatus means that the Secret's label has a different status than
	// the record. Helm uses the record's status.
	AnomalyLabelStatus AnomalyCode = "label_status"
	// AnomalyName means that the record names a different release than its
	// Secret. Routes and access checks use the Secret's.
	AnomalyName AnomalyCode = "name"
	// AnomalyNamespace means the same of the namespace.
	AnomalyNamespace AnomalyCode = "namespace"
	// AnomalyRevision means the same of the revision.
	AnomalyRevision AnomalyCode = "revision"
	// AnomalyAlsoDeployed means that a later revision is also deployed.
	AnomalyAlsoDeployed AnomalyCode = "also_deployed"
	// AnomalyDuplicate means that two Secrets hold the same revision.
	AnomalyDuplicate AnomalyCode = "duplicate"
	// AnomalyGap means that revisions directly before this one are missing
	// although older revisions exist.
	AnomalyGap AnomalyCode = "gap"
)

// Disagreements returns the differences between a Secret and its record, which
// arise when somebody edits a label or copies a Secret to another place. A
// value that either of them lacks is not a disagreement.
func Disagreements(r *Revision, record *Record) []Anomaly {
	var found []Anomaly
	add := func(code AnomalyCode, message string, args ...any) {
		found = append(found, Anomaly{code, fmt.Sprintf(message, args...)})
	}
	if r.LabelStatus != "" && record.Status != "" && r.LabelStatus != record.Status {
		add(AnomalyLabelStatus, "The Secret's label says %s, the record %s. Helm goes by the record.", r.LabelStatus, record.Status)
	}
	if record.Name != "" && record.Name != r.Name {
		add(AnomalyName, "The record says that its release is %q.", record.Name)
	}
	if record.Namespace != "" && record.Namespace != r.Namespace {
		add(AnomalyNamespace, "The record says that its namespace is %q.", record.Namespace)
	}
	if record.Version != 0 && record.Version != r.Number {
		add(AnomalyRevision, "The record says that it is revision %d.", record.Version)
	}
	return found
}

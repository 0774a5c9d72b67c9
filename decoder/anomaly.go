package decoder

import "fmt"

// Anomaly is something that an orderly history does not have. It is shown and
// never repaired.
type Anomaly struct {
	Code AnomalyCode `json:"code"`
	// Message says it to people.
	Message string `json:"message"`
}

// AnomalyCode says to programs what is odd about a revision.
type AnomalyCode string

const (
	// AnomalyUnreadable means that the record cannot be decoded.
	AnomalyUnreadable AnomalyCode = "unreadable"
	// AnomalyLabelStatus means that the Secret's label has another status than
	// the record, which Helm goes by.
	AnomalyLabelStatus AnomalyCode = "label_status"
	// AnomalyName, AnomalyNamespace and AnomalyRevision mean that the record
	// says to be of another release or revision than its Secret, which routes and
	// access checks go by.
	AnomalyName      AnomalyCode = "name"
	AnomalyNamespace AnomalyCode = "namespace"
	AnomalyRevision  AnomalyCode = "revision"
	// AnomalyAlsoDeployed means that a later revision is deployed too.
	AnomalyAlsoDeployed AnomalyCode = "also_deployed"
	// AnomalyDuplicate means that two Secrets hold the same revision.
	AnomalyDuplicate AnomalyCode = "duplicate"
	// AnomalyGap means that revisions right before this one are missing while
	// older ones are there.
	AnomalyGap AnomalyCode = "gap"
)

// Disagreements are where a Secret and the record in it say different things, as
// happens when somebody edits a label or copies a Secret to another place. What
// one of the two does not say is no disagreement.
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

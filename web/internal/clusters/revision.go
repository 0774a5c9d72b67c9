package clusters

import (
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// LabelStatus returns the status in a revision's label if it differs from the record's,
// else "".
func LabelStatus(r *decoder.Revision) decoder.Status {
	if r.LabelStatus == r.Status() {
		return ""
	}
	return r.LabelStatus
}

// Updated returns the time of a revision: that in its record or, if unknown, the
// creation of its Secret.
func Updated(r *decoder.Revision) time.Time {
	if r.Header != nil && !r.Header.LastDeployed.IsZero() {
		return r.Header.LastDeployed.UTC()
	}
	return r.Created.UTC()
}

package clusters

import (
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// LabelStatus returns the status of a revision's label if its record has
// another one, else "".
func LabelStatus(r *decoder.Revision) decoder.Status {
	if r.LabelStatus == r.Status() {
		return ""
	}
	return r.LabelStatus
}

// Updated returns when a revision was made, or when its Secret was created if
// nothing else is known.
func Updated(r *decoder.Revision) time.Time {
	if r.Header != nil && !r.Header.LastDeployed.IsZero() {
		return r.Header.LastDeployed.UTC()
	}
	return r.Created.UTC()
}

package audit

import (
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// Lineage is the history of a release name from an install to the uninstall, in
// one namespace of one cluster. A later namespace or cluster with the same name
// starts another lineage.
type Lineage struct {
	// ID is derived from everything that distinguishes lineages.
	ID string
	// Current means that the lineage belongs to the present namespace and
	// cluster. The namespace's new owners cannot see a lineage that is not
	// current.
	Current bool
	// Unsure means that Current is false only because the namespaces have not
	// been read yet.
	Unsure bool
	// FirstDeployed is the time that Helm copies through upgrades and
	// rollbacks; it is zero if no record could be read.
	FirstDeployed time.Time
	// Revisions holds every revision ever seen, lowest first.
	Revisions []Revision
}

// Revision is the last known state of one revision.
type Revision struct {
	Number int
	Status decoder.Status
	Secret decoder.SecretRef
	// Digest and Size describe the record; Digest is "" if the record was never
	// read.
	Digest string
	Size   int
	// Seen is when the trail last observed the revision. Created is the
	// creation time of its Secret, or the time when the revision was first
	// seen.
	Created, Seen time.Time
	// Session and User identify the session and the user that created the
	// revision, if known.
	Session, User string
	// Gone says why the revision is no longer in the cluster; it is "" while
	// the revision exists.
	Gone decoder.Change
	// Erased means that retention removed the revision's record.
	Erased bool
}

package audit

import (
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// Lineage is one life of a release name: from an install to the uninstall, in
// one namespace of one cluster, and not in another of the same names that came
// after it.
type Lineage struct {
	// ID is made of all that tells lives apart.
	ID string
	// Current means that the namespace, and the cluster, are those of today.
	// One that is not current is out of reach for the namespace's new owners.
	Current bool
	// Unsure means that Current is false for no other reason than that the
	// namespaces have not been read yet.
	Unsure bool
	// FirstDeployed is what Helm copies through upgrades and rollbacks; zero
	// when no record could be read.
	FirstDeployed time.Time
	// Revisions are all that were ever seen, lowest first.
	Revisions []Revision
}

// Revision is the last that is known of one revision.
type Revision struct {
	Number int
	Status decoder.Status
	Secret decoder.SecretRef
	// Digest and Size are the record's; "" when nobody has read it.
	Digest string
	Size   int
	// Seen is when the trail last heard of it; Created is its Secret's
	// creation, or when it was first seen.
	Created, Seen time.Time
	// Session and User are those that created it, if they are known.
	Session, User string
	// Gone says why it is no longer in the cluster; "" while it is.
	Gone decoder.Change
	// Erased means that retention removed its record.
	Erased bool
}

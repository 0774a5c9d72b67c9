package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// TrailKind says what an entry of the trail tells.
type TrailKind string

const (
	// TrailTransition tells a transition as it was seen, or, with Late, as it
	// was found afterwards.
	TrailTransition TrailKind = "transition"
	// TrailFound tells a revision that was there when the trail got to know the
	// cluster, or that was first seen when a gap ended.
	TrailFound TrailKind = "found"
	// TrailRewritten tells that a record's bytes changed while its status stayed.
	TrailRewritten TrailKind = "rewritten"
	// TrailGap tells that nothing watched the cluster, or one namespace of it,
	// between From and the entry's own time.
	TrailGap TrailKind = "gap"
	// TrailReveal tells that somebody was shown secrets.
	TrailReveal TrailKind = "reveal"
	// TrailErased tells that retention removed records.
	TrailErased TrailKind = "erased"
	// TrailUnreadable is no entry that was ever stored: it stands in the place
	// of one that is missing or altered, of which only the position is known.
	TrailUnreadable TrailKind = "unreadable"
)

// TrailEntry is one link of a cluster's chain. What does not fit its kind is
// empty. It holds nothing of a record's content, so that it may be kept for
// good and shown to everybody who may see the release.
type TrailEntry struct {
	// Position counts the cluster's entries: 1, 2, 3 ... without gaps.
	Position uint64    `json:"position"`
	Kind     TrailKind `json:"kind"`
	// Time is when it was seen, in UTC.
	Time       time.Time `json:"time"`
	Cluster    string    `json:"cluster"`
	ClusterUID string    `json:"clusterUID,omitempty"`
	// Namespace and Release are empty where the whole cluster is meant.
	Namespace string `json:"namespace,omitempty"`
	Release   string `json:"release,omitempty"`
	// Lineage is the id of the life of the release name. It is made of the
	// UIDs of cluster and namespace, both "" where they may not be read, the
	// names, and FirstDeployed.
	Lineage       string    `json:"lineage,omitempty"`
	NamespaceUID  string    `json:"namespaceUID,omitempty"`
	FirstDeployed time.Time `json:"firstDeployed,omitzero"`

	Revision       int                `json:"revision,omitempty"`
	Change         decoder.Change     `json:"change,omitempty"`
	Status         decoder.Status     `json:"status,omitempty"`
	PreviousStatus decoder.Status     `json:"previousStatus,omitempty"`
	Late           bool               `json:"late,omitempty"`
	Secret         *decoder.SecretRef `json:"secret,omitempty"`
	// Created is the Secret's creation.
	Created time.Time `json:"created,omitzero"`
	// Digest names the record's bytes: their SHA-256 in hex, "" when nobody
	// has read them.
	Digest string `json:"digest,omitempty"`
	Size   int    `json:"size,omitempty"`

	// Session and User are those that caused it, if they are known to us, and
	// User is who was shown secrets.
	Session string `json:"session,omitempty"`
	User    string `json:"user,omitempty"`
	// What says what was revealed, or why records were erased.
	What string `json:"what,omitempty"`
	// From is when a gap began; zero when that is unknown.
	From time.Time `json:"from,omitzero"`
	// Digests are the records that were erased.
	Digests []string `json:"digests,omitempty"`

	// Previous is the SHA-256, in hex, of the stored bytes of the entry before
	// this one; "" in the first.
	Previous string `json:"previous"`
}

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
	Revisions []TrailRevision
}

// TrailRevision is the last that is known of one revision.
type TrailRevision struct {
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

// TrailQuery selects entries of a cluster, which must be given; other fields
// that are zero select all. A gap is selected with
// whatever could have happened in it, unless a user is asked for.
type TrailQuery struct {
	Cluster   string
	Namespace string
	Release   string
	User      string
	// After leaves out entries up to this position, Since those before a time.
	After uint64
	Since time.Time
	// Limit bounds how many entries are returned, at most MaxTrailPage.
	Limit int
	// Readable tells whether entries of a namespace are wanted, "" standing for
	// what is about none; nil wants all. Those that are not are passed over unread.
	// It may block; its error ends the reading.
	Readable func(ctx context.Context, namespace string) (bool, error)
}

// MaxTrailPage is how many entries one page of the trail holds at most.
const MaxTrailPage = 500

// TrailState says whether a cluster's chain holds.
type TrailState struct {
	// Entries is how many the chain has, Head the SHA-256 of the last one's
	// stored bytes in hex, and HeadTime its time.
	Entries  uint64    `json:"entries"`
	Head     string    `json:"head"`
	HeadTime time.Time `json:"headTime,omitzero"`
	// Verified means that every link holds. Else Broken is the position of the
	// first that does not, and Problem says in words why.
	Verified bool   `json:"verified"`
	Broken   uint64 `json:"broken,omitempty"`
	Problem  string `json:"problem,omitempty"`
	// Checked is when that was found out.
	Checked time.Time `json:"checked"`
}

// Reveal is what somebody was shown.
type Reveal struct {
	Release ReleaseRef
	// Lineage is "" for the newest.
	Lineage  string
	Revision int
	User     string
	What     string
}

// Trail is the permanent record of everything that releases ever were. Package
// trail provides it. Its methods may be called concurrently.
type Trail interface {
	// Lineages returns the lives of a release, newest first, none if it was
	// never seen. It comes from memory and does not block.
	Lineages(release ReleaseRef) []Lineage
	// Releases returns the releases of a namespace, "" for all, that were ever
	// seen, sorted. It comes from memory and does not block.
	Releases(cluster, namespace string) []ReleaseRef
	// Record returns the bytes of the record with this digest, as Helm stored
	// them. It fails with ErrNotFound when it was never kept, with ErrErased
	// when retention removed it, and with ErrAltered when they are no longer
	// the bytes of that digest.
	Record(ctx context.Context, digest string) ([]byte, error)
	// Entries returns entries in the order of the chain, and whether there
	// are more. Query.After with the last one's position goes on from there.
	Entries(ctx context.Context, query TrailQuery) (entries []TrailEntry, more bool, err error)
	// State tells what is known of a cluster's chain; with verify, every link
	// is read again from the disk first.
	State(ctx context.Context, cluster string, verify bool) (TrailState, error)
	// Reveal appends that secrets are about to be shown. They must not be when
	// it fails.
	Reveal(ctx context.Context, reveal Reveal) error
}

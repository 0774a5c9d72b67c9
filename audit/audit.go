package audit

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// Keeper permanently stores the observations of one cluster's watch. The watch
// calls its methods. All methods except Record are called one at a time, in the
// order of observation, and must not block.
type Keeper interface {
	// Record receives the bytes of each state of a record that the watch reads,
	// before See receives that state. It may block, which delays the watch so
	// that nothing is lost. The bytes must not be changed and may be kept.
	Record(revision *decoder.Revision, data []byte)
	// See receives every transition. It also receives, without a Change, every
	// state that is not a transition: a record that was rewritten with the same
	// status, or a record that was read for the first time although its
	// revision was already known.
	See(transition decoder.Transition)
	// Synced is called when the watch of a namespace, "" for all, has read
	// everything that existed when it began.
	Synced(namespace string)
	// Missed is called when nothing has watched the namespace, "" for all,
	// since from. The transitions found afterwards follow this call.
	Missed(namespace string, from time.Time)
}

// Kind is the kind of an entry of the trail.
type Kind string

const (
	// KindTransition records a transition as it was seen or, with Late, as it
	// was found afterwards.
	KindTransition Kind = "transition"
	// KindFound records a revision that already existed when the trail first
	// read the cluster, or that was first seen when a gap ended.
	KindFound Kind = "found"
	// KindRewritten records that a record's bytes changed while its status
	// stayed the same.
	KindRewritten Kind = "rewritten"
	// KindGap records that nothing watched the cluster, or one of its
	// namespaces, between From and the entry's own time.
	KindGap Kind = "gap"
	// KindReveal records that secrets were shown to a user.
	KindReveal Kind = "reveal"
	// KindErased records that retention removed records.
	KindErased Kind = "erased"
	// KindUnreadable is never stored. It replaces an entry that is missing or
	// altered; only its position is known.
	KindUnreadable Kind = "unreadable"
)

// Entry is one link of a cluster's chain. Fields that do not apply to its kind
// are empty. It holds no content of a record, so it may be kept permanently and
// shown to everybody who may see the release.
type Entry struct {
	// Position counts the cluster's entries: 1, 2, 3 ... without gaps.
	Position uint64 `json:"position"`
	Kind     Kind   `json:"kind"`
	// Time is the time of the observation, in UTC.
	Time       time.Time `json:"time"`
	Cluster    string    `json:"cluster"`
	ClusterUID string    `json:"clusterUID,omitempty"`
	// Namespace and Release are empty if the entry is about the whole cluster.
	Namespace string `json:"namespace,omitempty"`
	Release   string `json:"release,omitempty"`
	// Lineage is the id of the release name's lineage. It is derived from the
	// UIDs of cluster and namespace (both "" if they may not be read), the
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
	// Created is the Secret's creation time.
	Created time.Time `json:"created,omitzero"`
	// Digest is the SHA-256 of the record's bytes in hex, or "" if they were
	// never read.
	Digest string `json:"digest,omitempty"`
	Size   int    `json:"size,omitempty"`

	// Session and User identify the session and the user that caused the entry,
	// if known. In a KindReveal entry, User is the user who was shown secrets.
	Session string `json:"session,omitempty"`
	User    string `json:"user,omitempty"`
	// What describes what was revealed, or why records were erased.
	What string `json:"what,omitempty"`
	// From is the time when a gap began; it is zero if unknown.
	From time.Time `json:"from,omitzero"`
	// Digests holds the digests of the erased records.
	Digests []string `json:"digests,omitempty"`

	// Previous is the SHA-256, in hex, of the stored bytes of the previous
	// entry; it is "" in the first entry.
	Previous string `json:"previous"`
}

// Query selects entries of a cluster. Cluster is required; any other field that
// is zero selects everything. A gap is selected if a matching entry could have
// occurred in it, unless User is set.
type Query struct {
	Cluster   string
	Namespace string
	Release   string
	User      string
	// After excludes entries up to this position. Since excludes entries before
	// this time.
	After uint64
	Since time.Time
	// Limit is the maximum number of entries to return, at most MaxPage.
	Limit int
	// Readable reports whether to return entries of a namespace; "" stands for
	// entries without a namespace. A nil Readable selects all entries.
	// Entries that are not selected are skipped without being read. Readable may
	// block; its error ends the query.
	Readable func(ctx context.Context, namespace string) (bool, error)
}

// MaxPage is the maximum number of entries on one page of the trail.
const MaxPage = 500

// State describes the integrity of a cluster's chain.
type State struct {
	// Entries is the number of entries in the chain, Head the SHA-256 of the
	// last entry's stored bytes in hex, and HeadTime its time.
	Entries  uint64    `json:"entries"`
	Head     string    `json:"head"`
	HeadTime time.Time `json:"headTime,omitzero"`
	// Verified means that every link is intact. Otherwise Broken is the
	// position of the first broken link, and Problem describes the reason.
	Verified bool   `json:"verified"`
	Broken   uint64 `json:"broken,omitempty"`
	Problem  string `json:"problem,omitempty"`
	// Checked is the time of the verification.
	Checked time.Time `json:"checked"`
}

// Reveal describes secrets that were shown to a user.
type Reveal struct {
	Release helmtrail.ReleaseRef
	// Lineage is "" for the newest lineage.
	Lineage  string
	Revision int
	User     string
	What     string
}

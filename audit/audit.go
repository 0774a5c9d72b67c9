package audit

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// Keeper keeps for good what the watch of one cluster learns. Its methods are
// called by the watch; those but Record are called one at a time, in the order
// in which things were learnt, and must not block.
type Keeper interface {
	// Record is handed the bytes of each state of a record that the watch reads,
	// before See tells of that state. It may block, which holds up the watch,
	// so that nothing is lost. The bytes must not be changed and may be kept.
	Record(revision *decoder.Revision, data []byte)
	// See is told every transition and, without a Change, every state that is
	// none: of a record that was rewritten while its status stayed, or of one
	// that was read for the first time though the revision was known before.
	See(transition decoder.Transition)
	// Synced is told that the watch of a namespace, "" for all, has come to know
	// what was there when it began.
	Synced(namespace string)
	// Missed is told that nothing watched the namespace, "" for all, from that
	// moment on until now. The transitions found afterwards follow it.
	Missed(namespace string, from time.Time)
}

// Kind says what an entry of the trail tells.
type Kind string

const (
	// KindTransition tells a transition as it was seen, or, with Late, as it
	// was found afterwards.
	KindTransition Kind = "transition"
	// KindFound tells a revision that was there when the trail got to know the
	// cluster, or that was first seen when a gap ended.
	KindFound Kind = "found"
	// KindRewritten tells that a record's bytes changed while its status stayed.
	KindRewritten Kind = "rewritten"
	// KindGap tells that nothing watched the cluster, or one namespace of it,
	// between From and the entry's own time.
	KindGap Kind = "gap"
	// KindReveal tells that somebody was shown secrets.
	KindReveal Kind = "reveal"
	// KindErased tells that retention removed records.
	KindErased Kind = "erased"
	// KindUnreadable is no entry that was ever stored: it stands in the place
	// of one that is missing or altered, of which only the position is known.
	KindUnreadable Kind = "unreadable"
)

// Entry is one link of a cluster's chain. What does not fit its kind is
// empty. It holds nothing of a record's content, so that it may be kept for
// good and shown to everybody who may see the release.
type Entry struct {
	// Position counts the cluster's entries: 1, 2, 3 ... without gaps.
	Position uint64 `json:"position"`
	Kind     Kind   `json:"kind"`
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

// Query selects entries of a cluster, which must be given; other fields
// that are zero select all. A gap is selected with
// whatever could have happened in it, unless a user is asked for.
type Query struct {
	Cluster   string
	Namespace string
	Release   string
	User      string
	// After leaves out entries up to this position, Since those before a time.
	After uint64
	Since time.Time
	// Limit bounds how many entries are returned, at most MaxPage.
	Limit int
	// Readable reports whether entries of a namespace are wanted; "" stands for
	// entries that belong to no namespace. Nil selects all entries. Other entries
	// are skipped without being read. Readable may block; its error stops the
	// read.
	Readable func(ctx context.Context, namespace string) (bool, error)
}

// MaxPage is how many entries one page of the trail holds at most.
const MaxPage = 500

// State says whether a cluster's chain holds.
type State struct {
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
	Release helmtrail.ReleaseRef
	// Lineage is "" for the newest.
	Lineage  string
	Revision int
	User     string
	What     string
}

package trail

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/stream/journal"
)

const (
	entriesStream  = "TRAIL"
	entriesSubject = "trail"
	// hashHeader holds an entry's own hash, so that a change of the last entry is
	// visible too. No other entry holds the hash of the last one.
	hashHeader = "Helmtrail-Hash"
)

// GuardedStream is the stream whose files are evidence; see [journal.Open].
const GuardedStream = entriesStream

// clusterSubject returns the part of all subjects that identifies a cluster.
func clusterSubject(cluster string) string {
	sum := sha256.Sum256([]byte(cluster))
	return entriesSubject + "." + hex.EncodeToString(sum[:16])
}

// entrySubject returns the subject of a release's entries. An empty name stands
// for the entries of a namespace or of the whole cluster.
func entrySubject(release helmtrail.ReleaseRef) string {
	sum := sha256.Sum256([]byte(release.Namespace + "/" + release.Name))
	return clusterSubject(release.Cluster) + "." + hex.EncodeToString(sum[:16])
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// links follows a chain from entry to entry and records the first broken link.
type links struct {
	cluster string
	// position, hash and time describe the last entry. hash is "" if the entry
	// could not be read.
	position uint64
	hash     string
	time     time.Time

	broken  uint64
	problem string
}

// next follows the link to the next entry in the files. It returns false if the
// entry cannot be read. It returns a readable entry even if its link is broken.
func (l *links) next(m *journal.Stored) (audit.Entry, bool) {
	at := l.position + 1
	lost := func(problem string) (audit.Entry, bool) {
		l.fail(at, fmt.Sprintf("entry %d is not as it was stored: %s (%s, byte %d)", at, problem, m.File, m.Offset))
		l.position, l.hash = at, ""
		return audit.Entry{}, false
	}
	if m.Problem != "" {
		return lost(m.Problem)
	}
	var entry audit.Entry
	hash := hashOf(m.Data)
	switch err := json.Unmarshal(m.Data, &entry); {
	case hash != m.Headers[hashHeader]:
		return lost("its hash is not the one stored beside it")
	case err != nil:
		return lost("it is no entry")
	}
	first := l.position == 0
	if first {
		l.cluster = entry.Cluster
	}
	switch {
	case entry.Position > at:
		l.fail(at, missing(at, entry.Position-1))
	case entry.Position < at:
		l.fail(at, fmt.Sprintf("where entry %d belongs stands another entry %d", at, entry.Position))
	case (l.hash != "" || first) && entry.Previous != l.hash:
		l.fail(at, fmt.Sprintf("entry %d does not follow entry %d as it is: one of them was changed", at, at-1))
	case entry.Cluster != l.cluster || m.Subject != entrySubject(entryRelease(&entry)):
		l.fail(at, fmt.Sprintf("entry %d stands under the name of another release", at))
	}
	l.position, l.hash, l.time = max(entry.Position, at), hash, entry.Time
	return entry, true
}

func missing(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("entry %d is missing", from)
	}
	return fmt.Sprintf("entries %d to %d are missing", from, to)
}

func (l *links) fail(position uint64, problem string) {
	if l.broken == 0 {
		l.broken, l.problem = position, problem
	}
}

// reaches checks that the chain extends to its last known head.
func (l *links) reaches(known head) {
	switch {
	case known.Position > l.position:
		l.fail(l.position+1, missing(l.position+1, known.Position)+fmt.Sprintf(": the chain had entry %d before", known.Position))
	case known.Position == l.position && known.Hash != l.hash && l.hash != "":
		l.fail(known.Position, fmt.Sprintf("entry %d is another one than before", known.Position))
	}
}

// state returns the result.
func (l *links) state() audit.State {
	return audit.State{
		Entries: l.position, Head: l.hash, HeadTime: l.time,
		Verified: l.broken == 0, Broken: l.broken, Problem: l.problem, Checked: time.Now().UTC(),
	}
}

// chainsRead holds all chains in a stream's files, by clusterSubject.
type chainsRead struct {
	chains map[string]*links
	// stray describes damage that cannot be attributed to a cluster.
	stray string
}

// readChains follows all chains. If each is not nil, readChains calls it for
// every readable entry, with the chain up to that entry.
func readChains(readFiles func(func(journal.Stored) error) error, each func(*links, *audit.Entry)) (*chainsRead, error) {
	read := &chainsRead{chains: map[string]*links{}}
	err := readFiles(func(m journal.Stored) error {
		owner := ownerOf(m.Subject)
		l := read.chains[owner]
		if l == nil && m.Problem != "" {
			if read.stray == "" {
				read.stray = fmt.Sprintf("an entry cannot be read: %s (%s, byte %d)", m.Problem, m.File, m.Offset)
			}
			return nil
		}
		if l == nil {
			l = &links{}
			read.chains[owner] = l
		}
		if entry, ok := l.next(&m); ok && each != nil {
			each(l, &entry)
		}
		return nil
	})
	return read, err
}

// of returns the chain of a cluster.
func (r *chainsRead) of(cluster string) *links {
	l := r.chains[clusterSubject(cluster)]
	if l == nil {
		l = &links{cluster: cluster}
		r.chains[clusterSubject(cluster)] = l
	}
	if r.stray != "" {
		l.fail(l.position+1, r.stray)
	}
	return l
}

// ownerOf returns the part of an entry's subject that identifies its cluster.
func ownerOf(subject string) string {
	if at := strings.LastIndexByte(subject, '.'); at >= 0 {
		return subject[:at]
	}
	return ""
}

func entryRelease(e *audit.Entry) helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: e.Cluster, Namespace: e.Namespace, Name: e.Release}
}

// head identifies an entry of a chain.
type head struct {
	Position uint64 `json:"position"`
	Hash     string `json:"hash"`
}

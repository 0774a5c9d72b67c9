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
	// hashHeader holds an entry's own hash, so that a change of the last entry
	// shows too, of which no other entry knows.
	hashHeader = "Helmtrail-Hash"
)

// GuardedStream is the stream whose files are evidence; see [journal.Open].
const GuardedStream = entriesStream

// clusterSubject is the part of all subjects that stands for a cluster.
func clusterSubject(cluster string) string {
	sum := sha256.Sum256([]byte(cluster))
	return entriesSubject + "." + hex.EncodeToString(sum[:16])
}

// entrySubject is where the entries of a release stand, or with an empty name
// those of a namespace or of the whole cluster.
func entrySubject(release helmtrail.ReleaseRef) string {
	sum := sha256.Sum256([]byte(release.Namespace + "/" + release.Name))
	return clusterSubject(release.Cluster) + "." + hex.EncodeToString(sum[:16])
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// links follows a chain from entry to entry and remembers the first link that
// does not hold.
type links struct {
	cluster string
	// position, hash and time are those of the last entry; the hash is "" when
	// that could not be read.
	position uint64
	hash     string
	time     time.Time

	broken  uint64
	problem string
}

// next takes the entry that follows in the files. It returns false for one that
// cannot be read; one that can is returned even if it does not fit.
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

// reaches checks that the chain goes as far as it is known to have gone.
func (l *links) reaches(known head) {
	switch {
	case known.Position > l.position:
		l.fail(l.position+1, missing(l.position+1, known.Position)+fmt.Sprintf(": the chain had entry %d before", known.Position))
	case known.Position == l.position && known.Hash != l.hash && l.hash != "":
		l.fail(known.Position, fmt.Sprintf("entry %d is another one than before", known.Position))
	}
}

// state is what was found.
func (l *links) state() audit.State {
	return audit.State{
		Entries: l.position, Head: l.hash, HeadTime: l.time,
		Verified: l.broken == 0, Broken: l.broken, Problem: l.problem, Checked: time.Now().UTC(),
	}
}

// chainsRead is all chains that a stream's files hold, by clusterSubject.
type chainsRead struct {
	chains map[string]*links
	// stray says where something is damaged so that it is not known whose it is.
	stray string
}

// readChains follows all chains. Each, if it is not nil, is called for the
// entries that can be read, with the chain up to there.
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

// ownerOf is the part of an entry's subject that stands for its cluster.
func ownerOf(subject string) string {
	if at := strings.LastIndexByte(subject, '.'); at >= 0 {
		return subject[:at]
	}
	return ""
}

func entryRelease(e *audit.Entry) helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: e.Cluster, Namespace: e.Namespace, Name: e.Release}
}

// head names a place of a chain.
type head struct {
	Position uint64 `json:"position"`
	Hash     string `json:"hash"`
}

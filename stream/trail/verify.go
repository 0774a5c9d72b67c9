package trail

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// Check configures Verify.
type Check struct {
	// Journal is the journal's folder. Notes is the Folder of Setup.
	Journal, Notes string
	// Cluster restricts the check to one cluster; "" checks all clusters.
	Cluster string
	// Head is the hash of an entry that a chain is known to have had; "" if no
	// entry is known. At is its position; 0 if unknown.
	Head string
	At   uint64
	// Records checks the bytes of each record against its digest.
	Records bool
}

// Finding is the result of Verify for the trail of a cluster.
type Finding struct {
	Cluster string `json:"cluster"`
	audit.State
	// Records counts the checked records. Erased counts the records removed by
	// retention.
	Records int `json:"records"`
	Erased  int `json:"erased"`
}

// ErrNoTrail is returned when there is nothing to verify.
var ErrNoTrail = errors.New("there is no trail")

// Verify reads the trails in a folder and checks every link. It reads the files
// directly, without NATS, which might repair damage. It writes nothing, so a
// server may be running on the files. It returns ErrNoTrail if there is no
// trail, or no trail of the cluster. A broken trail is not an error.
func Verify(check Check) ([]Finding, error) {
	noted, unread, err := readMarks(check.Notes)
	if err != nil {
		return nil, err
	}
	v := &verifier{check: check, named: map[string]*naming{}, known: map[string]bool{}}
	read, err := readChains(v.entries, v.see)
	if err != nil && (!errors.Is(err, journal.ErrNoStream) || len(noted)+len(unread) == 0) {
		if errors.Is(err, journal.ErrNoStream) {
			err = fmt.Errorf("%w: %w", ErrNoTrail, err)
		}
		return nil, err
	}
	clusters := map[string]bool{}
	for _, l := range read.chains {
		clusters[l.cluster] = true
	}
	for _, m := range noted {
		if m.Head.Position > 0 {
			clusters[m.Cluster] = true
			read.of(m.Cluster).reaches(m.Head)
		}
	}
	for cluster, problem := range unread {
		clusters[cluster] = true
		l := read.of(cluster)
		l.fail(l.position+1, fmt.Sprintf("whether entries are missing at the end is not known: %v", problem))
	}
	if check.Records {
		if err := v.records(read); err != nil {
			return nil, err
		}
	}
	var findings []Finding
	for _, cluster := range slices.Sorted(maps.Keys(clusters)) {
		if check.Cluster == "" || check.Cluster == cluster {
			findings = append(findings, v.finding(read.of(cluster)))
		}
	}
	if len(findings) == 0 {
		return nil, fmt.Errorf("%w of cluster %q", ErrNoTrail, check.Cluster)
	}
	return findings, nil
}

// verifier collects the contents of the entries.
type verifier struct {
	check Check
	// named holds the records that should exist, by digest.
	named map[string]*naming
	// known holds the clusters whose chains have the requested head.
	known map[string]bool
}

// naming is the first entry that names a record, or that names it again after
// it was erased.
type naming struct {
	links    *links
	position uint64
	what     string
	problem  string
	erased   bool
}

func (v *verifier) entries(each func(journal.Stored) error) error {
	return journal.ReadFiles(v.check.Journal, entriesStream, each)
}

func (v *verifier) see(l *links, e *audit.Entry) {
	if l.hash == v.check.Head && (v.check.At == 0 || v.check.At == e.Position) {
		v.known[l.cluster] = true
	}
	for _, digest := range e.Digests {
		if n := v.named[digest]; n != nil {
			n.erased = true
		}
	}
	if n := v.named[e.Digest]; e.Digest != "" && (n == nil || n.erased) {
		v.named[e.Digest] = &naming{
			links: l, position: e.Position, problem: "is missing",
			what: fmt.Sprintf("revision %d of %s/%s", e.Revision, e.Namespace, e.Release),
		}
	}
}

// finding summarizes a chain.
func (v *verifier) finding(l *links) Finding {
	if v.check.Head != "" && !v.known[l.cluster] {
		switch at := v.check.At; {
		case at == 0:
			l.fail(l.position+1, fmt.Sprintf("none of the %d entries has the hash %s: the chain was cut or rewritten", l.position, v.check.Head))
		case at > l.position:
			l.fail(l.position+1, missing(l.position+1, at)+": the chain was cut")
		default:
			l.fail(at, fmt.Sprintf("entry %d has another hash than %s: the chain was rewritten", at, v.check.Head))
		}
	}
	f := Finding{Cluster: l.cluster, State: l.state()}
	if v.check.Records {
		for _, n := range v.named {
			switch {
			case n.links.cluster != l.cluster:
			case n.erased:
				f.Erased++
			default:
				f.Records++
			}
		}
	}
	return f
}

// records checks the bytes of all records that are named and not erased.
func (v *verifier) records(read *chainsRead) error {
	damaged, err := v.readRecords()
	if err != nil {
		return err
	}
	// A record that a running server has erased meanwhile is not missing.
	if _, err := readChains(v.entries, func(_ *links, e *audit.Entry) {
		for _, digest := range e.Digests {
			if n := v.named[digest]; n != nil && n.position < e.Position {
				n.erased = true
			}
		}
	}); err != nil {
		return err
	}
	var broken []*naming
	for digest, n := range v.named {
		if n.problem != "" && !n.erased {
			n.problem = fmt.Sprintf("the record of %s, which entry %d names, %s (%s)", n.what, n.position, n.problem, digest)
			broken = append(broken, n)
		}
	}
	slices.SortFunc(broken, func(a, b *naming) int { return int(a.position) - int(b.position) })
	for _, n := range broken {
		n.links.fail(n.position, n.problem)
	}
	for _, l := range read.chains {
		if damaged != "" {
			l.fail(l.position+1, damaged)
		}
	}
	return nil
}

// readRecords reads all records and clears the problem of each intact one. It
// returns a description of damage that cannot be attributed to a record.
func (v *verifier) readRecords() (damaged string, err error) {
	gathered := map[string]*gathering{}
	err = journal.ReadFiles(v.check.Journal, recordsStream, func(m journal.Stored) error {
		digest, part, ok := splitPart(m.Subject)
		n := v.named[digest]
		if m.Problem != "" {
			if ok && n != nil {
				n.problem = "is damaged: " + m.Problem
			} else if damaged == "" {
				damaged = fmt.Sprintf("a record cannot be read: %s (%s, byte %d)", m.Problem, m.File, m.Offset)
			}
			return nil
		}
		if !ok || n == nil {
			return nil
		}
		g := gathered[digest]
		if g == nil {
			g = &gathering{parts: map[string][]byte{}}
			gathered[digest] = g
		}
		g.add(part, &m)
		if data, whole := g.whole(); whole {
			n.problem = ""
			if hashOf(data) != digest {
				n.problem = "is not as it was stored"
			}
			delete(gathered, digest)
		}
		return nil
	})
	if errors.Is(err, journal.ErrNoStream) {
		err = nil // then all records are missing
	}
	return damaged, err
}

// readMarks reads the notes of all clusters. unread maps each cluster with an
// unreadable note to the error.
func readMarks(folder string) (all []mark, unread map[string]error, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read how far the trails had come: %w", err)
	}
	unread = map[string]error{}
	for _, entry := range entries {
		if cluster, ok := strings.CutSuffix(filepath.Base(entry.Name()), ".json"); ok {
			m, err := readMark(folder, cluster)
			if err != nil {
				unread[cluster] = err
				continue
			}
			all = append(all, m)
		}
	}
	return all, unread, nil
}

package trail

import (
	"cmp"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// digest is the SHA-256 of a record; zero if the record has not been read.
type digest [32]byte

func parseDigest(text string) (d digest) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(d) {
		copy(d[:], raw)
	}
	return d
}

func (d digest) String() string {
	if d == (digest{}) {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// place locates an entry and holds the fields that queries select by.
type place struct {
	position, sequence uint64
	time               int64
	release            *release // nil for an entry that cannot be read
	user               string
	gap                bool
}

// release is a release as the trail knows it. An empty name stands for the
// entries of a namespace, or of the whole cluster.
type release struct {
	namespace, name string
	lineages        []*lineage
}

type lineage struct {
	id                       string
	clusterUID, namespaceUID string
	first                    time.Time
	revisions                []*revision // by number, then by the Secret's name
}

// revision is the last known state of a release Secret.
type revision struct {
	number        int
	size          int
	status        decoder.Status
	secret        decoder.SecretRef // without a name if the name is Helm's own
	digest        digest
	created, seen int64
	session, user string
	gone          decoder.Change
	erased        bool
	// live means that the revision was seen since the watch began.
	live bool
}

// index is the in-memory index of a chain. Its methods are safe for concurrent
// use and do not block.
type index struct {
	mu       sync.RWMutex
	releases map[releaseKey]*release
	places   []place
	erased   map[digest]struct{}
	// unfinished holds the digests in the chain's last entry about erased records
	// at the time the trail was opened. It is unknown whether those records were
	// actually erased.
	unfinished []digest
	words      map[string]string
}

type releaseKey struct{ namespace, name string }

func newIndex() *index {
	return &index{releases: map[releaseKey]*release{}, erased: map[digest]struct{}{}, words: map[string]string{}}
}

// word interns a string that occurs repeatedly.
func (x *index) word(text string) string {
	if text == "" {
		return ""
	}
	if known, ok := x.words[text]; ok {
		return known
	}
	x.words[text] = text
	return text
}

// renew forgets which revisions were seen, because another watch begins.
func (x *index) renew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.releases {
		r.each(func(rev *revision) { rev.live = false })
	}
}

// unreadable records an entry that cannot be read.
func (x *index) unreadable(position, sequence uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.places = append(x.places, place{position: position, sequence: sequence})
}

// add indexes an entry. live means that it was appended just now.
func (x *index) add(e *audit.Entry, sequence uint64, live bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := releaseKey{e.Namespace, e.Release}
	r := x.releases[key]
	if r == nil {
		r = &release{namespace: x.word(e.Namespace), name: x.word(e.Release)}
		x.releases[key] = r
	}
	x.places = append(x.places, place{
		position: e.Position, sequence: sequence, time: e.Time.UnixNano(), release: r, user: x.word(e.User), gap: e.Kind == audit.KindGap,
	})
	switch e.Kind {
	case audit.KindTransition, audit.KindFound, audit.KindRewritten:
		if e.Secret != nil {
			x.revise(r, e, live)
		}
	case audit.KindErased:
		var all []digest
		for _, text := range e.Digests {
			d := parseDigest(text)
			x.erased[d] = struct{}{}
			all = append(all, d)
		}
		if !live {
			x.unfinished = all
		}
		r.each(func(rev *revision) {
			if _, erased := x.erased[rev.digest]; erased {
				rev.erased = true
			}
		})
	}
}

// revise applies an entry to its revision.
func (x *index) revise(r *release, e *audit.Entry, live bool) {
	l, rev := r.find(e.Secret.UID)
	made := rev == nil || e.Kind != audit.KindTransition
	if l == nil || l.id != e.Lineage {
		if l != nil {
			// The revision was first known by its label only; its record names another
			// lineage.
			r.remove(l, rev)
		}
		l = r.lineage(e.Lineage)
		if l == nil {
			l = &lineage{id: e.Lineage, clusterUID: x.word(e.ClusterUID), namespaceUID: x.word(e.NamespaceUID), first: e.FirstDeployed}
			r.lineages = append(r.lineages, l)
		}
		if rev == nil {
			created := e.Created
			if created.IsZero() {
				created = e.Time
			}
			rev = &revision{created: created.UnixNano()}
		}
		rev.number, rev.secret.Name = e.Revision, e.Secret.Name
		if e.Secret.Name == decoder.SecretName(r.name, e.Revision) {
			rev.secret.Name = ""
		}
		l.put(rev)
	}
	rev.status, rev.live = decoder.Status(x.word(string(e.Status))), live
	rev.secret.UID, rev.secret.ResourceVersion = e.Secret.UID, e.Secret.ResourceVersion
	rev.seen = e.Time.UnixNano()
	if d := parseDigest(e.Digest); d != (digest{}) {
		rev.digest, rev.size = d, e.Size
		if e.Kind != audit.KindTransition || e.Change == decoder.ChangeStatus {
			delete(x.erased, d)
			rev.erased = false
		}
	}
	rev.gone = ""
	if e.Kind == audit.KindTransition && e.Change != decoder.ChangeStatus {
		rev.gone = decoder.Change(x.word(string(e.Change)))
		return
	}
	// Later transitions were caused by other sessions than the one that created
	// it.
	if made && rev.session == "" {
		rev.session, rev.user = e.Session, x.word(e.User)
	}
}

func (r *release) lineage(id string) *lineage {
	for _, l := range r.lineages {
		if l.id == id {
			return l
		}
	}
	return nil
}

// find returns the newest revision in the Secret with the given UID.
func (r *release) find(uid string) (*lineage, *revision) {
	for i := len(r.lineages) - 1; i >= 0; i-- {
		l := r.lineages[i]
		for j := len(l.revisions) - 1; j >= 0; j-- {
			if l.revisions[j].secret.UID == uid {
				return l, l.revisions[j]
			}
		}
	}
	return nil, nil
}

func (r *release) remove(l *lineage, rev *revision) {
	l.revisions = slices.DeleteFunc(l.revisions, func(o *revision) bool { return o == rev })
	if len(l.revisions) == 0 {
		r.lineages = slices.DeleteFunc(r.lineages, func(o *lineage) bool { return o == l })
	}
}

func (r *release) each(f func(*revision)) {
	for _, l := range r.lineages {
		for _, rev := range l.revisions {
			f(rev)
		}
	}
}

// put adds a revision. It replaces a revision that is gone and was in a Secret
// of the same name.
func (l *lineage) put(rev *revision) {
	at, known := slices.BinarySearchFunc(l.revisions, rev, func(a, b *revision) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.secret.Name, b.secret.Name))
	})
	if known {
		l.revisions[at] = rev
		return
	}
	l.revisions = slices.Insert(l.revisions, at, rev)
}

// present reports whether a revision of the lineage is in the cluster.
func (l *lineage) present() bool {
	return slices.ContainsFunc(l.revisions, func(rev *revision) bool { return rev.gone == "" })
}

// newest returns when the lineage's youngest Secret was created.
func (l *lineage) newest() int64 {
	var newest int64
	for _, rev := range l.revisions {
		newest = max(newest, rev.created)
	}
	return newest
}

// sorted returns the lineages. The ones in the cluster come first, then the
// newest first.
func (r *release) sorted() []*lineage {
	order := func(l *lineage) (rank int) {
		if l.present() {
			return 0
		}
		return 1
	}
	list := slices.Clone(r.lineages)
	slices.SortStableFunc(list, func(a, b *lineage) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(b.newest(), a.newest()))
	})
	return list
}

// export converts a revision to its public form.
func (rev *revision) export(release string) audit.Revision {
	secret := rev.secret
	if secret.Name == "" {
		secret.Name = decoder.SecretName(release, rev.number)
	}
	return audit.Revision{
		Number: rev.number, Status: rev.status, Secret: secret, Digest: rev.digest.String(), Size: rev.size,
		Created: time.Unix(0, rev.created).UTC(), Seen: time.Unix(0, rev.seen).UTC(),
		Session: rev.session, User: rev.user, Gone: rev.gone, Erased: rev.erased,
	}
}

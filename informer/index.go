package informer

import (
	"cmp"
	"slices"

	"github.com/helmtrail/helmtrail/decoder"
)

// releaseKey names a release in a cluster.
type releaseKey struct{ namespace, name string }

// entry is one release Secret in the index.
type entry struct {
	rev *decoder.Revision
	// read means that rev is final: its record was decoded, or cannot be.
	read bool
	// notified is the newest state that observers know; nil if they know none.
	notified *decoder.Revision
}

// release is one lineage of a release name: it ends with its last Secret.
type release struct {
	entries []*entry // by number, lowest first
	// newest is the highest revision at the last write to any of them, even if it
	// was deleted since. It gives the meaning of a series of missed deletes.
	newest *decoder.Revision
	queue  []*pending
}

// index holds the releases of a cluster. Callers must lock.
type index struct {
	secrets  map[key]*entry
	releases map[releaseKey]*release
	// version grows with every change.
	version uint64
	// latest caches the newest revision of each release, sorted by namespace and
	// name; nil after a change.
	latest []*decoder.Revision
}

func newIndex(version uint64) index {
	return index{secrets: map[key]*entry{}, releases: map[releaseKey]*release{}, version: version}
}

func releaseOf(rev *decoder.Revision) releaseKey { return releaseKey{rev.Namespace, rev.Name} }

func keyOf(rev *decoder.Revision) key { return key{rev.Namespace, rev.Secret.Name} }

// put stores rev as the state of e, which is new or already in the index, and
// returns e's release.
func (x *index) put(e *entry, rev *decoder.Revision, read bool) *release {
	x.changed()
	if e.rev != nil {
		old := x.releases[releaseOf(e.rev)]
		if releaseOf(e.rev) == releaseOf(rev) && e.rev.Number == rev.Number {
			e.rev, e.read = rev, read
			return old
		}
		old.entries = slices.DeleteFunc(old.entries, func(o *entry) bool { return o == e })
		x.forget(releaseOf(e.rev))
	}
	e.rev, e.read = rev, read
	x.secrets[keyOf(rev)] = e
	r := x.releases[releaseOf(rev)]
	if r == nil {
		r = &release{}
		x.releases[releaseOf(rev)] = r
	}
	at, _ := slices.BinarySearchFunc(r.entries, e, byNumber)
	r.entries = slices.Insert(r.entries, at, e)
	return r
}

// remove removes e from the index. Its release stays while it has entries or
// queued transitions; see forget.
func (x *index) remove(e *entry) *release {
	x.changed()
	delete(x.secrets, keyOf(e.rev))
	r := x.releases[releaseOf(e.rev)]
	r.entries = slices.DeleteFunc(r.entries, func(o *entry) bool { return o == e })
	return r
}

// forget drops a release without entries and queued transitions.
func (x *index) forget(k releaseKey) {
	if r := x.releases[k]; r != nil && len(r.entries) == 0 && len(r.queue) == 0 {
		delete(x.releases, k)
	}
}

func (x *index) changed() {
	x.version++
	x.latest = nil
}

// byNumber orders the Secrets of a release. Secrets that claim the same number are
// ordered by name.
func byNumber(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.rev.Number, b.rev.Number), cmp.Compare(a.rev.Secret.Name, b.rev.Secret.Name))
}

// top returns the entry with the highest number, nil if there is none.
func (r *release) top() *entry {
	if len(r.entries) == 0 {
		return nil
	}
	return r.entries[len(r.entries)-1]
}

// list returns the newest revision of each release of a namespace, "" for all,
// by namespace and name. The slice is shared and never changed.
func (x *index) list(namespace string) []*decoder.Revision {
	if x.latest == nil {
		x.latest = make([]*decoder.Revision, 0, len(x.releases))
		for k, r := range x.releases {
			if top := r.top(); top != nil && k.name != "" {
				x.latest = append(x.latest, top.rev)
			}
		}
		slices.SortFunc(x.latest, func(a, b *decoder.Revision) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	if namespace == "" {
		return slices.Clip(x.latest)
	}
	from, _ := slices.BinarySearchFunc(x.latest, namespace, func(r *decoder.Revision, ns string) int {
		return cmp.Compare(r.Namespace, ns)
	})
	to := from
	for to < len(x.latest) && x.latest[to].Namespace == namespace {
		to++
	}
	return slices.Clip(x.latest[from:to])
}

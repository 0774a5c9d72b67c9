package trail

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helmtrail/helmtrail/audit"
)

// erasable is a revision that is gone and whose records may be erased.
type erasable struct {
	key      releaseKey
	lineage  string
	uid      string
	revision int
	since    int64
}

// Retain erases the records that are due at the given time by the setup's Keep
// and Size. For each revision it first appends an entry with the digests; the
// chain itself loses nothing. It keeps the records of revisions that are in a
// cluster, whatever their age and size.
func (t *Trail) Retain(ctx context.Context, now time.Time) error {
	if t.setup.Keep == 0 && t.setup.Size == 0 {
		return nil
	}
	t.erasing.Lock()
	defer t.erasing.Unlock()
	for _, c := range t.allChains() {
		if err := t.finishErasing(ctx, c); err != nil {
			return err
		}
		for _, e := range c.index.erasable() {
			why, err := t.due(ctx, e, now)
			if err != nil {
				return err
			}
			if why == "" {
				break
			}
			if err := t.erase(ctx, c, e, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// due returns why a revision's records must be erased, or "" if they must not.
func (t *Trail) due(ctx context.Context, e erasable, now time.Time) (string, error) {
	if gone := time.Unix(0, e.since); t.setup.Keep > 0 && now.Sub(gone) > t.setup.Keep {
		return fmt.Sprintf("gone for more than %v", t.setup.Keep), nil
	}
	if t.setup.Size == 0 {
		return "", nil
	}
	size, err := t.records.store.Size(ctx)
	if err == nil && size > t.setup.Size {
		return fmt.Sprintf("more than %d bytes of records", t.setup.Size), nil
	}
	return "", err
}

// erase appends the entry about a revision's erased records, and then erases
// them.
func (t *Trail) erase(ctx context.Context, c *chain, e erasable, why string) error {
	digests, err := c.digestsOf(ctx, e, t.present())
	if err != nil {
		return err
	}
	if len(digests) == 0 {
		return nil
	}
	err = c.append(ctx, audit.Entry{
		Kind: audit.KindErased, Time: time.Now().UTC(), Namespace: e.key.namespace, Release: e.key.name,
		Lineage: e.lineage, Revision: e.revision, What: why, Digests: digests,
	})
	if err != nil {
		return fmt.Errorf("tell the trail what is erased: %w", err)
	}
	for _, d := range digests {
		if err := t.records.erase(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// finishErasing completes an erasure that the end of the process may have
// interrupted: the last entry about erased records is stored before the records
// are erased.
func (t *Trail) finishErasing(ctx context.Context, c *chain) error {
	left := c.index.leftToErase()
	if len(left) == 0 {
		return nil
	}
	kept := t.present()
	for _, d := range left {
		if kept[d] {
			continue
		}
		if err := t.records.erase(ctx, d.String()); err != nil {
			return err
		}
	}
	return nil
}

// leftToErase returns the records for finishErasing, once.
func (x *index) leftToErase() []digest {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := slices.DeleteFunc(x.unfinished, func(d digest) bool {
		_, erased := x.erased[d]
		return !erased
	})
	x.unfinished = nil
	return left
}

// digestsOf returns all records that a revision ever had, except the kept ones.
func (c *chain) digestsOf(ctx context.Context, e erasable, kept map[digest]bool) ([]string, error) {
	var digests []string
	for _, p := range c.index.pick(audit.Query{Namespace: e.key.namespace, Release: e.key.name}, math.MaxInt) {
		if p.gap {
			continue
		}
		entry, err := c.read(ctx, p)
		if err != nil {
			return nil, err
		}
		if entry.Secret != nil && entry.Secret.UID == e.uid && entry.Digest != "" && !kept[parseDigest(entry.Digest)] && !slices.Contains(digests, entry.Digest) {
			digests = append(digests, entry.Digest)
		}
	}
	return digests, nil
}

// erasable returns the revisions that are gone and not erased, in the order in
// which they were deleted.
func (x *index) erasable() []erasable {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var list []erasable
	for key, r := range x.releases {
		for _, l := range r.lineages {
			for _, rev := range l.revisions {
				if rev.gone != "" && !rev.erased && rev.digest != (digest{}) {
					list = append(list, erasable{key, l.id, rev.secret.UID, rev.number, rev.seen})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b erasable) int {
		return cmp.Or(cmp.Compare(a.since, b.since), compareKeys(a.key, b.key), cmp.Compare(a.revision, b.revision))
	})
	return list
}

// present returns the records of the revisions that are in a cluster. Identical
// bytes are stored once for all revisions.
func (t *Trail) present() map[digest]bool {
	all := map[digest]bool{}
	for _, c := range t.allChains() {
		c.index.addPresent(all)
	}
	return all
}

// addPresent adds the records of the revisions that are in the cluster.
func (x *index) addPresent(all map[digest]bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, r := range x.releases {
		r.each(func(rev *revision) {
			if rev.gone == "" {
				all[rev.digest] = true
			}
		})
	}
}

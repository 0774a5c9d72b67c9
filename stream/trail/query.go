package trail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// chain returns a cluster's chain.
func (t *Trail) chain(cluster string) (*chain, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if c := t.chains[cluster]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("the trail of cluster %q: %w", cluster, helmtrail.ErrNotFound)
}

// Lineages implements [history.Trail].
func (t *Trail) Lineages(ref helmtrail.ReleaseRef) []audit.Lineage {
	c, err := t.chain(ref.Cluster)
	if err != nil {
		return nil
	}
	var clusterUID, namespaceUID string
	known := true
	if k := t.keeperOf(ref.Cluster); k != nil {
		known = k.identified() && k.cluster.NamespacesKnown()
		clusterUID, namespaceUID = k.knownUID(), k.cluster.KnownNamespaceUID(ref.Namespace)
	}
	x := c.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.releases[releaseKey{ref.Namespace, ref.Name}]
	if r == nil || ref.Name == "" {
		return nil
	}
	lineages := make([]audit.Lineage, 0, len(r.lineages))
	for _, l := range r.sorted() {
		out := audit.Lineage{
			ID: l.id, FirstDeployed: l.first, Revisions: make([]audit.Revision, 0, len(l.revisions)),
			Current: (l.clusterUID == "" || l.clusterUID == clusterUID) && (l.namespaceUID == "" || l.namespaceUID == namespaceUID),
		}
		for _, rev := range l.revisions {
			out.Revisions = append(out.Revisions, rev.export(r.name))
		}
		out.Unsure = !out.Current && !known
		lineages = append(lineages, out)
	}
	return lineages
}

// Releases implements [history.Trail].
func (t *Trail) Releases(cluster, namespace string) []helmtrail.ReleaseRef {
	c, err := t.chain(cluster)
	if err != nil {
		return nil
	}
	x := c.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	var refs []helmtrail.ReleaseRef
	for key, r := range x.releases {
		if len(r.lineages) > 0 && key.name != "" && (namespace == "" || key.namespace == namespace) {
			refs = append(refs, helmtrail.ReleaseRef{Cluster: cluster, Namespace: key.namespace, Name: key.name})
		}
	}
	slices.SortFunc(refs, func(a, b helmtrail.ReleaseRef) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return refs
}

// Record implements [history.Trail].
func (t *Trail) Record(ctx context.Context, digest string) ([]byte, error) {
	// Only a valid digest may become part of a subject.
	d := parseDigest(digest)
	if d.String() != digest {
		return nil, fmt.Errorf("record %q: %w", digest, helmtrail.ErrNotFound)
	}
	data, err := t.records.get(ctx, digest)
	if errors.Is(err, helmtrail.ErrNotFound) {
		for _, c := range t.allChains() {
			// A record erased from one chain counts as erased in all of them.
			if known := c.index.lost(d); known != nil && !errors.Is(err, helmtrail.ErrErased) {
				err = known
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", digest, err)
	}
	return data, nil
}

// lost returns why the record with this digest should exist but has no bytes,
// or nil if it should not exist.
func (x *index) lost(d digest) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if _, erased := x.erased[d]; erased {
		return helmtrail.ErrErased
	}
	var found error
	for _, r := range x.releases {
		r.each(func(rev *revision) {
			if rev.digest == d {
				found = helmtrail.ErrAltered
			}
		})
	}
	return found
}

// Entries implements [history.Trail].
func (t *Trail) Entries(ctx context.Context, query audit.Query) (entries []audit.Entry, more bool, err error) {
	c, err := t.chain(query.Cluster)
	if err != nil {
		return nil, false, err
	}
	limit := query.Limit
	if limit <= 0 || limit > audit.MaxPage {
		limit = audit.MaxPage
	}
	places, err := c.index.readable(ctx, query, limit+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(places) > limit; more {
		places = places[:limit]
	}
	entries = make([]audit.Entry, 0, len(places))
	for _, p := range places {
		entry, err := c.read(ctx, p)
		if err != nil {
			return nil, false, err
		}
		entries = append(entries, entry)
	}
	return entries, more, nil
}

// readable returns the first places that match a query and are readable.
func (x *index) readable(ctx context.Context, query audit.Query, limit int) ([]place, error) {
	if query.Readable == nil {
		return x.pick(query, limit), nil
	}
	// The batch grows with each step, so that both a short page and a scan of a
	// long trail cost little.
	const most = 10_000
	var found []place
	for atATime := limit; ; atATime = min(2*atATime, max(limit, most)) {
		places := x.pick(query, atATime)
		for _, p := range places {
			namespace := ""
			if p.release != nil {
				namespace = p.release.namespace
			}
			ok, err := query.Readable(ctx, namespace)
			if err != nil {
				return nil, err
			}
			// A gap of the whole cluster belongs to every trail.
			if ok || p.gap && namespace == "" {
				if found = append(found, p); len(found) == limit {
					return found, nil
				}
			}
			query.After = p.position
		}
		if len(places) < atATime {
			return found, nil
		}
	}
}

// pick returns the first places that match a query.
func (x *index) pick(query audit.Query, limit int) []place {
	x.mu.RLock()
	defer x.mu.RUnlock()
	since := nanoseconds(query.Since)
	from, _ := slices.BinarySearchFunc(x.places, query.After+1, func(p place, position uint64) int { return cmp.Compare(p.position, position) })
	var found []place
	for _, p := range x.places[from:] {
		if p.wanted(&query, since) {
			if found = append(found, p); len(found) == limit {
				break
			}
		}
	}
	return found
}

// nanoseconds converts a time to the form used in places. A time out of range
// becomes the first or the last one in range.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func (p *place) wanted(query *audit.Query, since int64) bool {
	if p.release == nil {
		return query.Namespace == "" && query.Release == "" && query.User == "" && query.Since.IsZero()
	}
	if p.time < since || query.User != "" && p.user != query.User {
		return false
	}
	sameNamespace := query.Namespace == "" || p.release.namespace == query.Namespace
	if p.gap {
		return sameNamespace || p.release.namespace == ""
	}
	return sameNamespace && (query.Release == "" || p.release.name == query.Release)
}

// read returns the entry at a place. If it cannot be read, the returned entry
// says so.
func (c *chain) read(ctx context.Context, p place) (audit.Entry, error) {
	message, err := c.entries.Get(ctx, p.sequence)
	var entry audit.Entry
	switch {
	case err == nil && json.Unmarshal(message.Data, &entry) == nil && entry.Position == p.position && entry.Cluster == c.cluster:
		return entry, nil
	case err != nil && !errors.Is(err, helmtrail.ErrNotFound) && !errors.Is(err, journal.ErrUnreadable):
		return audit.Entry{}, err
	}
	return audit.Entry{Kind: audit.KindUnreadable, Position: p.position, Cluster: c.cluster}, nil
}

// State implements [history.Trail].
func (t *Trail) State(ctx context.Context, cluster string, verify bool) (audit.State, error) {
	c, err := t.chain(cluster)
	if err != nil || !verify {
		if err != nil {
			return audit.State{}, err
		}
		return c.state(), nil
	}
	result := t.verifies.DoChan(cluster, func() (any, error) { return nil, c.verify() })
	select {
	case r := <-result:
		return c.state(), r.Err
	case <-ctx.Done():
		return audit.State{}, ctx.Err()
	}
}

// verify reads the chain from its files again.
func (c *chain) verify() error {
	known := c.head()
	chains, err := readChains(c.entries.ReadFiles, nil)
	if err != nil {
		return fmt.Errorf("verify the trail of %s: %w", c.cluster, err)
	}
	read := chains.of(c.cluster)
	read.reaches(known)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links.broken, c.links.problem, c.checked = read.broken, read.problem, time.Now().UTC()
	return nil
}

// Reveal implements [history.Trail].
func (t *Trail) Reveal(ctx context.Context, reveal audit.Reveal) error {
	c, err := t.chain(reveal.Release.Cluster)
	if err != nil {
		return err
	}
	lineage := reveal.Lineage
	if lineages := t.Lineages(reveal.Release); lineage == "" && len(lineages) > 0 {
		lineage = lineages[0].ID
	}
	var uid string
	if k := t.keeperOf(reveal.Release.Cluster); k != nil {
		uid = k.knownUID()
	}
	err = c.append(ctx, audit.Entry{
		Kind: audit.KindReveal, ClusterUID: uid, Time: time.Now().UTC(), Namespace: reveal.Release.Namespace, Release: reveal.Release.Name,
		Lineage: lineage, Revision: reveal.Revision, User: reveal.User, What: reveal.What,
	})
	if err != nil {
		return fmt.Errorf("tell the trail that secrets are revealed: %w", err)
	}
	return nil
}

package history

import (
	"context"
	"fmt"
	"iter"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
)

// trailView is one reader's view of a trail. It belongs to one request.
type trailView struct {
	trail Trail
	// filter decides according to the namespace of each entry.
	filter   *authz.Filter
	lineages map[helmtrail.ReleaseRef]knownLineages
}

// knownLineages says which lineages of a release are current, by their ids, and
// whether the release has former ones.
type knownLineages struct {
	current map[string]bool
	former  bool
}

func newTrailView(trail Trail, filter *authz.Filter) *trailView {
	return &trailView{trail: trail, filter: filter, lineages: map[helmtrail.ReleaseRef]knownLineages{}}
}

// entries yields the requested entries that the reader may see. It ends with the
// first error.
func (v *trailView) entries(ctx context.Context, request trailRequest) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		query := request.query
		query.Readable = v.filter.Allows
		given := 0
		for more := true; more; {
			query.Limit = audit.MaxPage
			if request.limit > 0 {
				// One more entry shows whether the page is the last.
				query.Limit = min(query.Limit, max(1, request.limit+1-given))
			}
			var page []audit.Entry
			var err error
			if page, more, err = v.trail.Entries(ctx, query); err != nil {
				yield(audit.Entry{}, fmt.Errorf("read the trail of cluster %s: %w", query.Cluster, err))
				return
			}
			for _, e := range page {
				query.After = e.Position
				shown, err := v.shows(ctx, e)
				if err == nil && (!shown || request.lineage != "" && e.Lineage != request.lineage) {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
				given++
			}
			more = more && len(page) > 0
		}
	}
}

// shows reports whether an entry may be shown. Entries of former lineages and of
// the whole cluster need permission for all namespaces. Gaps in the watch of the
// cluster are shown to everybody: they reveal nothing, and without them an
// incomplete trail would look complete.
func (v *trailView) shows(ctx context.Context, e audit.Entry) (bool, error) {
	if e.Kind == audit.KindGap && e.Namespace == "" {
		return true, v.filter.Recheck(ctx)
	}
	ok, err := v.filter.Allows(ctx, e.Namespace)
	if err != nil || !ok || e.Release == "" || v.isCurrent(e) {
		return ok, err
	}
	return v.filter.Allows(ctx, "")
}

// isCurrent reports whether an entry belongs to a current lineage. An entry
// without a known lineage does if all lineages of its release are current.
func (v *trailView) isCurrent(e audit.Entry) bool {
	ref := helmtrail.ReleaseRef{Cluster: e.Cluster, Namespace: e.Namespace, Name: e.Release}
	known, ok := v.lineages[ref]
	if !ok {
		known.current = map[string]bool{}
		for _, l := range v.trail.Lineages(ref) {
			known.current[l.ID] = l.Current
			known.former = known.former || !l.Current
		}
		v.lineages[ref] = known
	}
	if current, ok := known.current[e.Lineage]; ok {
		return current
	}
	return !known.former
}

package web

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/helmtrail/helmtrail/decoder"
)

const (
	defaultLimit = 500
	maxLimit     = 5000
)

// listing is the newest revision of every release of a cluster, sorted by
// namespace and name, as of a version. It is never changed.
type listing struct {
	version   uint64
	revisions []*decoder.Revision
}

// latest returns the cluster's listing, sorted anew only when something changed.
func (w *watched) latest() *listing {
	// The version is read first: if something changes in between, the listing
	// is newer than it says and the next call sorts again.
	version := w.Releases.Version()
	if l := w.listing.Load(); l != nil && l.version == version {
		return l
	}
	l := &listing{version: version, revisions: slices.Clone(w.Releases.Latest(""))}
	slices.SortFunc(l.revisions, func(a, b *decoder.Revision) int { return compareKey(a, b.Namespace, b.Name) })
	w.listing.Store(l)
	return l
}

func compareKey(r *decoder.Revision, namespace, name string) int {
	return cmp.Or(strings.Compare(r.Namespace, namespace), strings.Compare(r.Name, name))
}

// listQuery is what a list of releases was asked for.
type listQuery struct {
	namespace string          // "" for all
	visible   map[string]bool // the namespaces that the caller may list, nil for all
	statuses  []string
	text      string   // in lower case
	limit     int      // 0 for all
	after     *listKey // the last item of the page before
}

type listKey struct{ namespace, name string }

// page returns one page and whether more follows.
func (l *listing) page(q listQuery) (page []*decoder.Revision, more bool) {
	from := 0
	if q.after != nil {
		at, found := slices.BinarySearchFunc(l.revisions, *q.after, func(r *decoder.Revision, k listKey) int {
			return compareKey(r, k.namespace, k.name)
		})
		from = at
		if found {
			from++
		}
	} else if q.namespace != "" {
		from, _ = slices.BinarySearchFunc(l.revisions, q.namespace, func(r *decoder.Revision, namespace string) int {
			return compareKey(r, namespace, "")
		})
	}
	for _, r := range l.revisions[from:] {
		if q.namespace != "" && r.Namespace != q.namespace {
			if r.Namespace > q.namespace {
				break
			}
			continue
		}
		if q.visible != nil && !q.visible[r.Namespace] || !q.matches(r) {
			continue
		}
		if q.limit > 0 && len(page) == q.limit {
			return page, true
		}
		page = append(page, r)
	}
	return page, false
}

func (q listQuery) matches(r *decoder.Revision) bool {
	if len(q.statuses) > 0 && !slices.Contains(q.statuses, string(r.Status())) {
		return false
	}
	if q.text == "" {
		return true
	}
	contains := func(s string) bool { return strings.Contains(strings.ToLower(s), q.text) }
	return contains(r.Name) || contains(r.Namespace) || r.Header != nil && contains(r.Header.Chart)
}

// token is the page's end as a client sends it back. A namespace holds no
// slash.
func (k listKey) token() string {
	return base64.RawURLEncoding.EncodeToString([]byte(k.namespace + "/" + k.name))
}

func parseToken(token string) (listKey, bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return listKey{}, false
	}
	namespace, name, ok := strings.Cut(string(text), "/")
	return listKey{namespace, name}, ok
}

// parseLimit reads the size of a page.
func parseLimit(text string) (int, error) {
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, badRequest("limit", "limit must be a number from 1 to "+strconv.Itoa(maxLimit))
	}
	return limit, nil
}

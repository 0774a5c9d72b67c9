package clusters

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/helmtrail/helmtrail/decoder"
)

// Listing has the newest revision of every release of a cluster, sorted by
// namespace and name, at one version. It never changes.
type Listing struct {
	version uint64
	// Revisions must not be changed.
	Revisions []*decoder.Revision
}

// Latest returns the cluster's listing. It sorts again only after a change.
func (c *Cluster) Latest() *Listing {
	// Read the version first: after a change in between, the listing is newer than its
	// version, and the next call sorts again.
	version := c.Releases.Version()
	if l := c.listing.Load(); l != nil && l.version == version {
		return l
	}
	l := &Listing{version: version, Revisions: slices.Clone(c.Releases.Latest(""))}
	slices.SortFunc(l.Revisions, func(a, b *decoder.Revision) int { return compareKey(a, b.Namespace, b.Name) })
	c.listing.Store(l)
	return l
}

func compareKey(r *decoder.Revision, namespace, name string) int {
	return cmp.Or(strings.Compare(r.Namespace, namespace), strings.Compare(r.Name, name))
}

// Query selects releases.
type Query struct {
	Namespace string          // "" for all
	Visible   map[string]bool // the namespaces that the caller may list, nil for all
	Statuses  []string
	Text      string // part of a name or chart, in lower case
	Limit     int    // 0 for all
	After     *Key   // the last item of the previous page
}

// Key identifies a release within its cluster.
type Key struct{ Namespace, Name string }

// Namespaces returns the namespaces that have releases, sorted.
func (l *Listing) Namespaces() []string {
	var names []string
	for _, r := range l.Revisions {
		if len(names) == 0 || names[len(names)-1] != r.Namespace {
			names = append(names, r.Namespace)
		}
	}
	return names
}

// Page returns one page and whether more follows.
func (l *Listing) Page(q Query) (page []*decoder.Revision, more bool) {
	from := 0
	if q.After != nil {
		at, found := slices.BinarySearchFunc(l.Revisions, *q.After, func(r *decoder.Revision, k Key) int {
			return compareKey(r, k.Namespace, k.Name)
		})
		from = at
		if found {
			from++
		}
	} else if q.Namespace != "" {
		from, _ = slices.BinarySearchFunc(l.Revisions, q.Namespace, func(r *decoder.Revision, namespace string) int {
			return compareKey(r, namespace, "")
		})
	}
	for _, r := range l.Revisions[from:] {
		if q.Namespace != "" && r.Namespace != q.Namespace {
			if r.Namespace > q.Namespace {
				break
			}
			continue
		}
		if q.Visible != nil && !q.Visible[r.Namespace] || !q.matches(r) {
			continue
		}
		if q.Limit > 0 && len(page) == q.Limit {
			return page, true
		}
		page = append(page, r)
	}
	return page, false
}

func (q Query) matches(r *decoder.Revision) bool {
	if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, string(r.Status())) {
		return false
	}
	if q.Text == "" {
		return true
	}
	contains := func(s string) bool { return strings.Contains(strings.ToLower(s), q.Text) }
	return contains(r.Name) || contains(r.Namespace) || r.Header != nil && contains(r.Header.Chart)
}

// Token returns the key as a page's continue token. A namespace holds no slash.
func (k Key) Token() string {
	return base64.RawURLEncoding.EncodeToString([]byte(k.Namespace + "/" + k.Name))
}

// ParseToken reads a token returned by Token. It returns false for any other text.
func ParseToken(token string) (Key, bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Key{}, false
	}
	namespace, name, ok := strings.Cut(string(text), "/")
	return Key{namespace, name}, ok
}

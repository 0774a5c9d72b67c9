package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// lineagesFor returns the lineages of a release that the caller may see, newest
// first.
func (s *Server) lineagesFor(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef) ([]audit.Lineage, error) {
	former, err := s.SeesFormer(ctx, caller, ref)
	return s.lineages(ref, former), err
}

// lineages returns the lineages of a release, newest first. Without former it
// omits the former ones.
func (s *Server) lineages(ref helmtrail.ReleaseRef, former bool) []audit.Lineage {
	if s.Trail == nil {
		return nil
	}
	all := s.Trail.Lineages(ref)
	if former || !slices.ContainsFunc(all, isFormer) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), isFormer)
}

// lineage returns the lineage with this id. For a caller who may not see former
// lineages, the error is the same whether or not the lineage exists.
func (s *Server) lineage(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef, id string) (audit.Lineage, error) {
	lineages, err := s.lineagesFor(ctx, caller, ref)
	if err != nil {
		return audit.Lineage{}, err
	}
	if at := slices.IndexFunc(lineages, func(l audit.Lineage) bool { return l.ID == id }); at >= 0 {
		return lineages[at], nil
	}
	if err := caller.Allows(ctx, authz.Get, ""); err != nil {
		return audit.Lineage{}, err
	}
	return audit.Lineage{}, httpapi.NotFound(fmt.Sprintf("Release %s in namespace %s has no such lineage.", ref.Name, ref.Namespace))
}

// current returns the lineages that still have a revision in the cluster. There
// are several if a release was installed after an uninstall that kept the
// history. If there are none, current returns the newest lineage. It returns
// nothing if the release is in the cluster but its lineage is not in the trail
// yet.
func current(lineages []audit.Lineage, inCluster bool) []audit.Lineage {
	held := slices.DeleteFunc(slices.Clone(lineages), func(l audit.Lineage) bool { return !held(l) })
	if len(held) == 0 && len(lineages) > 0 && !inCluster {
		return lineages[:1]
	}
	return held
}

// held reports whether a lineage still has a revision in the cluster.
func held(l audit.Lineage) bool {
	return slices.ContainsFunc(l.Revisions, func(r audit.Revision) bool { return r.Gone == "" })
}

// pastDetails has the URLs of a release's past.
type pastDetails struct {
	History string `json:"history"`
	Trail   string `json:"trail"`
}

// WithPast adds the URLs of a release's past to the error about a missing
// release, if it has a past that the caller may see. url is the path of the
// release.
func (s *Server) WithPast(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef, url string, missing *httpapi.Error) error {
	lineages, err := s.lineagesFor(ctx, caller, ref)
	if err != nil {
		return err
	}
	if len(lineages) == 0 {
		return missing
	}
	extended := *missing
	extended.Message += " It existed once, and its history is still available."
	extended.Details = pastDetails{url + "/history", url + "/trail"}
	return &extended
}

// Namespaces returns the namespaces of a cluster that have releases, or that had
// some and still exist, sorted.
func (s *Server) Namespaces(cluster *clusters.Cluster) []string {
	names := cluster.Latest().Namespaces()
	if s.Trail == nil {
		return names
	}
	for _, ref := range s.Trail.Releases(cluster.ID, "") {
		if slices.Contains(names, ref.Namespace) {
			continue
		}
		if slices.ContainsFunc(s.Trail.Lineages(ref), func(l audit.Lineage) bool { return l.Current }) {
			names = append(names, ref.Namespace)
		}
	}
	slices.Sort(names)
	return names
}

// Lineage is a lineage of a release as the history lists it.
type Lineage struct {
	ID string `json:"id"`
	// FirstDeployed is null if no record of the lineage could be read.
	FirstDeployed *time.Time `json:"firstDeployed"`
	LastSeen      time.Time  `json:"lastSeen"`
	Revisions     int        `json:"revisions"`
	// Current means that it belongs to the namespace that exists today.
	Current bool `json:"current"`
	// InCluster means that the cluster still holds some of its revisions.
	InCluster bool `json:"inCluster"`
}

func newLineages(lineages []audit.Lineage) []Lineage {
	items := make([]Lineage, 0, len(lineages))
	for _, l := range lineages {
		item := Lineage{ID: l.ID, Revisions: len(l.Revisions), Current: l.Current, InCluster: held(l)}
		if !l.FirstDeployed.IsZero() {
			first := l.FirstDeployed.UTC()
			item.FirstDeployed = &first
		}
		for _, r := range l.Revisions {
			if r.Seen.After(item.LastSeen) {
				item.LastSeen = r.Seen.UTC()
			}
		}
		items = append(items, item)
	}
	return items
}

// keptRevision is a revision as the trail knows it.
type keptRevision struct {
	lineage audit.Lineage
	audit.Revision
}

// keptIn returns a revision from the first lineage that has it.
func keptIn(lineages []audit.Lineage, number int) (keptRevision, bool) {
	for _, l := range lineages {
		for _, r := range l.Revisions {
			if r.Number == number {
				return keptRevision{l, r}, true
			}
		}
	}
	return keptRevision{}, false
}

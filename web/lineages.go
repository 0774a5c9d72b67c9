package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// lives are the lives of a release that the caller of a request may know of,
// newest first. Those of a namespace that was re-created are not for its new
// owners: they need the right for all namespaces.
func (s *Server) lives(c *gin.Context, ref stream.ReleaseRef) ([]stream.Lineage, error) {
	if s.options.Trail == nil {
		return nil, nil
	}
	all := s.options.Trail.Lineages(ref)
	if !slices.ContainsFunc(all, former) {
		return all, nil
	}
	everywhere := grantOf(c).allows(c.Request.Context(), needGet, "")
	if everywhere == nil {
		return all, nil
	}
	if !refuses(everywhere) {
		return nil, everywhere
	}
	return slices.DeleteFunc(slices.Clone(all), former), nil
}

// former tells that a life is one of a namespace, or a cluster, that is not
// that of today.
func former(l stream.Lineage) bool { return !l.Current }

// life is the life with this id. What the caller may not know of is refused in
// the same way whether it is there or not.
func (s *Server) life(c *gin.Context, ref stream.ReleaseRef, id string) (stream.Lineage, error) {
	lives, err := s.lives(c, ref)
	if err != nil {
		return stream.Lineage{}, err
	}
	if at := slices.IndexFunc(lives, func(l stream.Lineage) bool { return l.ID == id }); at >= 0 {
		return lives[at], nil
	}
	if err := grantOf(c).allows(c.Request.Context(), needGet, ""); err != nil {
		return stream.Lineage{}, err
	}
	return stream.Lineage{}, &apiError{
		status: http.StatusNotFound, code: codeNotFound,
		message: fmt.Sprintf("Release %s in namespace %s has no such lineage.", ref.Name, ref.Namespace),
	}
}

// present are the lives of which the cluster still holds a revision. There is
// more than one where a release was installed over what an uninstall had kept.
// If there are none, it is the newest life, unless the cluster holds the
// release all the same: then that is a life of which the trail does not know yet.
func present(lives []stream.Lineage, inCluster bool) []stream.Lineage {
	held := slices.DeleteFunc(slices.Clone(lives), func(l stream.Lineage) bool {
		return !slices.ContainsFunc(l.Revisions, func(r stream.TrailRevision) bool { return r.Gone == "" })
	})
	if len(held) == 0 && len(lives) > 0 && !inCluster {
		return lives[:1]
	}
	return held
}

// keptRevision is a revision as the trail knows it.
type keptRevision struct {
	lineage stream.Lineage
	stream.TrailRevision
}

// keptIn finds a revision in lives, in the newest first.
func keptIn(lives []stream.Lineage, number int) (keptRevision, bool) {
	for _, life := range lives {
		for _, r := range life.Revisions {
			if r.Number == number {
				return keptRevision{life, r}, true
			}
		}
	}
	return keptRevision{}, false
}

package web

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// lives are the lives of a release that the caller of a request may know of,
// newest first.
func (s *Server) lives(c *gin.Context, ref stream.ReleaseRef) ([]stream.Lineage, error) {
	former, err := s.seesFormer(c, ref)
	return s.livesOf(ref, former), err
}

// livesOf are the lives of a release, newest first; without former only those
// that its namespace's owners of today may know of.
func (s *Server) livesOf(ref stream.ReleaseRef, former bool) []stream.Lineage {
	if s.options.Trail == nil {
		return nil
	}
	all := s.options.Trail.Lineages(ref)
	if former || !slices.ContainsFunc(all, isFormer) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), isFormer)
}

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
	held := slices.DeleteFunc(slices.Clone(lives), func(l stream.Lineage) bool { return !held(l) })
	if len(held) == 0 && len(lives) > 0 && !inCluster {
		return lives[:1]
	}
	return held
}

// held tells whether the cluster still holds a revision of a life.
func held(l stream.Lineage) bool {
	return slices.ContainsFunc(l.Revisions, func(r stream.TrailRevision) bool { return r.Gone == "" })
}

// pastDetails lead to what is known of a release that is no longer there.
type pastDetails struct {
	History string `json:"history"`
	Trail   string `json:"trail"`
}

// withPast adds to the error about a missing release where its past can be
// read, if the caller may know of it.
func (s *Server) withPast(c *gin.Context, ref stream.ReleaseRef, missing *apiError) error {
	lives, err := s.lives(c, ref)
	if err != nil {
		return err
	}
	if len(lives) == 0 {
		return missing
	}
	own := s.options.BasePath + releaseURL(ref)
	led := *missing
	led.message += " It was there once, and its past is known."
	led.details = pastDetails{own + "/history", own + "/trail"}
	return &led
}

// lineageItem is a life of a release as the history lists it.
type lineageItem struct {
	ID string `json:"id"`
	// FirstDeployed is null when no record of it could be read.
	FirstDeployed *time.Time `json:"firstDeployed"`
	LastSeen      time.Time  `json:"lastSeen"`
	Revisions     int        `json:"revisions"`
	// Current means that the namespace is still the one in which it was lived.
	Current bool `json:"current"`
	// InCluster means that the cluster still holds some of its revisions.
	InCluster bool `json:"inCluster"`
}

func lineageItems(lives []stream.Lineage) []lineageItem {
	items := make([]lineageItem, 0, len(lives))
	for _, l := range lives {
		item := lineageItem{ID: l.ID, Revisions: len(l.Revisions), Current: l.Current, InCluster: held(l)}
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

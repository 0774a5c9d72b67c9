package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/helmtrail/helmtrail/stream"
)

// clusterSet is the clusters that are served now, in the order in which they
// are listed. Its methods may be called concurrently.
type clusterSet struct {
	mu   sync.Mutex // held while the list is replaced
	list atomic.Pointer[[]*watched]
}

// all returns the clusters; the list must not be changed.
func (s *clusterSet) all() []*watched {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// get returns a cluster, nil when it is not served.
func (s *clusterSet) get(id string) *watched {
	for _, w := range s.all() {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// AddCluster serves another cluster, listed last. It fails when its id is taken,
// or is an address of the server's own or its base path, and when callers sign in to it but not
// to the others, or the other way round.
func (s *Server) AddCluster(c Cluster) error {
	s.clusters.mu.Lock()
	defer s.clusters.mu.Unlock()
	if (c.Access != nil) != s.signIn {
		return fmt.Errorf("serve cluster %q: callers sign in to all clusters or to none", c.ID)
	}
	if s.clusters.get(c.ID) != nil || reserved(c.ID) {
		return fmt.Errorf("serve cluster %q: the id is taken", c.ID)
	}
	if "/"+c.ID == s.options.BasePath {
		return fmt.Errorf("serve cluster %q: its addresses would be those below the base path", c.ID)
	}
	list := append(slices.Clone(s.clusters.all()), newWatched(c, s.meter))
	s.clusters.list.Store(&list)
	return nil
}

// RemoveCluster ends a cluster's streams and long polls, and serves it no more.
// One that is not served is no error.
func (s *Server) RemoveCluster(id string) {
	s.clusters.mu.Lock()
	defer s.clusters.mu.Unlock()
	removed := s.clusters.get(id)
	if removed == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(s.clusters.all()), func(w *watched) bool { return w == removed })
	s.clusters.list.Store(&list)
	removed.stop()
	removed.leave()
}

// served returns a cluster, and fails when it is not served, or not any more.
func (s *Server) served(id string) (*watched, error) {
	if cluster := s.clusters.get(id); cluster != nil {
		return cluster, nil
	}
	return nil, fmt.Errorf("cluster %q: %w", id, stream.ErrNotFound)
}

// errNoDefault means that the cluster is not served that addresses without one mean.
var errNoDefault = &apiError{
	status: http.StatusServiceUnavailable, code: codeUnavailable,
	message: "The cluster that this address means is not watched now; /clusters lists those that are.",
}

// defaultID is the id of the cluster that addresses without one mean.
func (s *Server) defaultID() string {
	if s.options.DefaultCluster != "" {
		return s.options.DefaultCluster
	}
	if all := s.clusters.all(); len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// defaultCluster is the cluster that addresses without one mean.
func (s *Server) defaultCluster() (*watched, error) {
	if cluster := s.clusters.get(s.defaultID()); cluster != nil {
		return cluster, nil
	}
	return nil, errNoDefault
}

// defaultFirst are all clusters, beginning with the default one.
func (s *Server) defaultFirst() []*watched {
	all := slices.Clone(s.clusters.all())
	id := s.defaultID()
	slices.SortStableFunc(all, func(a, b *watched) int {
		switch {
		case a.ID == id && b.ID != id:
			return -1
		case b.ID == id && a.ID != id:
			return 1
		}
		return 0
	})
	return all
}

// addClusters serves the clusters to begin with.
func (s *Server) addClusters(clusters []Cluster) error {
	for _, c := range clusters {
		if err := s.AddCluster(c); err != nil {
			return err
		}
	}
	if id := s.options.DefaultCluster; id != "" && s.clusters.get(id) == nil {
		return errors.New("the default cluster " + id + " is none of the clusters")
	}
	return nil
}

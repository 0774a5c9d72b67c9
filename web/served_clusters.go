package web

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/internal/reserved"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// clusterSet holds the clusters that are being served, in the order in which
// they are listed. Its methods may be called concurrently.
type clusterSet struct {
	mu   sync.Mutex // held while the list is replaced
	list atomic.Pointer[[]*served]
	// defaultTo is the id of the default cluster; "" means the first.
	defaultTo string
}

// all returns the clusters. The list must not be changed.
func (s *clusterSet) all() []*served {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// get returns a cluster, or nil if it is not served.
func (s *clusterSet) get(id string) *served {
	for _, w := range s.all() {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// AddCluster serves another cluster, listed last. It fails if the id is taken,
// reserved or the base path, or if only some of the clusters would need a login.
func (s *Server) AddCluster(c Cluster) error {
	s.clusters.mu.Lock()
	defer s.clusters.mu.Unlock()
	if (c.Access != nil) != s.signIn {
		return fmt.Errorf("serve cluster %q: callers sign in to all clusters or to none", c.ID)
	}
	if s.clusters.get(c.ID) != nil || c.ID == "" || reserved.Contains(c.ID) {
		return fmt.Errorf("serve cluster %q: the id is taken", c.ID)
	}
	if "/"+c.ID == s.options.BasePath {
		return fmt.Errorf("serve cluster %q: its URLs would be those of the base path", c.ID)
	}
	list := append(slices.Clone(s.clusters.all()), s.newServed(c))
	s.clusters.list.Store(&list)
	return nil
}

// RemoveCluster stops serving a cluster and ends its streams and long polls. It
// does nothing if the cluster is not served.
func (s *Server) RemoveCluster(id string) {
	s.clusters.mu.Lock()
	defer s.clusters.mu.Unlock()
	removed := s.clusters.get(id)
	if removed == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(s.clusters.all()), func(w *served) bool { return w == removed })
	s.clusters.list.Store(&list)
	removed.Close()
}

// served returns a cluster. It fails with helmtrail.ErrNotFound if the cluster is
// not served.
func (s *clusterSet) served(id string) (*served, error) {
	if cluster := s.get(id); cluster != nil {
		return cluster, nil
	}
	return nil, fmt.Errorf("cluster %q: %w", id, helmtrail.ErrNotFound)
}

// errNoDefault is returned when the default cluster is not being served.
var errNoDefault = httpapi.Unavailable("The default cluster is not being watched; /clusters lists those that are.")

// defaultID returns the id of the default cluster, which is used for URLs without
// a cluster.
func (s *clusterSet) defaultID() string {
	if s.defaultTo != "" {
		return s.defaultTo
	}
	if all := s.all(); len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// defaultCluster returns the default cluster.
func (s *clusterSet) defaultCluster() (*served, error) {
	if cluster := s.get(s.defaultID()); cluster != nil {
		return cluster, nil
	}
	return nil, errNoDefault
}

// defaultFirst returns all clusters, the default one first.
func (s *clusterSet) defaultFirst() []*served {
	all := slices.Clone(s.all())
	id := s.defaultID()
	slices.SortStableFunc(all, func(a, b *served) int {
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

// addClusters serves the first clusters.
func (s *Server) addClusters(clusters []Cluster) error {
	for _, c := range clusters {
		if err := s.AddCluster(c); err != nil {
			return err
		}
	}
	if id := s.options.DefaultCluster; id != "" && s.clusters.get(id) == nil {
		return errors.New("the default cluster " + id + " is not among the clusters")
	}
	return nil
}

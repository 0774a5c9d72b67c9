package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/helmcli"
	"github.com/helmtrail/helmtrail/stream/trail"
	"github.com/helmtrail/helmtrail/web"
)

// drainCheck is how often it is looked whether a cluster that is gone from the
// kubeconfig is still needed.
const drainCheck = time.Second

// fleet is the clusters that can be used now. Its methods may be called
// concurrently.
type fleet struct {
	mu       sync.RWMutex
	clusters []*informer.Cluster
}

func (f *fleet) all() []*informer.Cluster {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.clusters)
}

func (f *fleet) find(id string) (stream.Cluster, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, c := range f.clusters {
		if c.ID == id {
			return c, true
		}
	}
	return nil, false
}

// ids are the ids of all clusters.
func (f *fleet) ids() []string {
	var ids []string
	for _, c := range f.all() {
		ids = append(ids, c.ID)
	}
	return ids
}

func (f *fleet) add(c *informer.Cluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters = append(f.clusters, c)
}

func (f *fleet) remove(c *informer.Cluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters = slices.DeleteFunc(f.clusters, func(other *informer.Cluster) bool { return other == c })
}

// watching runs the watches of the fleet's clusters. Its methods are called by
// one goroutine at a time.
type watching struct {
	fleet      *fleet
	operations *stream.Operations
	server     *web.Server
	trail      *trail.Trail
	show       func(*informer.Cluster) web.Cluster
	logger     *slog.Logger

	// ctx ends when all watches are to end, and running when they have.
	ctx     context.Context
	running errgroup.Group
	watches map[*informer.Cluster]clusterWatch
}

// clusterWatch ends what is done for one cluster.
type clusterWatch struct {
	unkeep    func() // its trail
	unobserve func() // what others do there
	stop      context.CancelFunc
}

// start begins to watch a cluster. It fails when its trail cannot be kept.
func (w *watching) start(c *informer.Cluster) error {
	unkeep, err := w.trail.Watch(c.ID, c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.watches[c] = clusterWatch{unkeep, w.operations.Watch(c.ID, c), stop}
	w.running.Go(func() error {
		defer stop()
		return c.Run(ctx)
	})
	return nil
}

// added takes a cluster in that is new in the kubeconfig.
func (w *watching) added(c *informer.Cluster) {
	if err := w.server.AddCluster(w.show(c)); err != nil {
		w.logger.Error("a new cluster is left out", "error", err)
		return
	}
	if err := w.start(c); err != nil {
		w.server.RemoveCluster(c.ID)
		w.logger.Error("a new cluster is left out", "error", err)
		return
	}
	w.fleet.add(c)
}

// removed lets a cluster go that the kubeconfig has lost. Nobody can use it any
// more, but it is watched until the operations that run there have ended.
func (w *watching) removed(c *informer.Cluster) {
	watch, ok := w.watches[c]
	if !ok {
		return // It had been left out.
	}
	delete(w.watches, c)
	w.server.RemoveCluster(c.ID)
	w.fleet.remove(c)
	watch.unobserve()
	watch.unkeep()
	w.running.Go(func() error {
		defer watch.stop()
		tick := time.NewTicker(drainCheck)
		defer tick.Stop()
		for w.operations.RunningIn(c.ID) > 0 {
			select {
			case <-tick.C:
			case <-w.ctx.Done():
				return nil
			}
		}
		return nil
	})
}

// unobserve ends the sessions of what others do.
func (w *watching) unobserve() {
	for _, watch := range w.watches {
		watch.unobserve()
	}
}

// shown is the clusters as web sees them.
func shown(clusters []*informer.Cluster, show func(*informer.Cluster) web.Cluster) []web.Cluster {
	list := make([]web.Cluster, 0, len(clusters))
	for _, c := range clusters {
		list = append(list, show(c))
	}
	return list
}

// webCluster is a cluster as web sees it.
func webCluster(c *informer.Cluster, helm *helmcli.Helm, auth string) web.Cluster {
	cluster := web.Cluster{
		ID: c.ID, Server: c.Server, HelmVersion: helm.Version(), Releases: c, Objects: c, Comparer: c, API: c, Namespaces: c.Namespaces,
		State: func() web.ClusterState { return state(c.Health()) },
		StateIn: func(namespace string) web.ClusterState {
			health, _ := c.HealthIn(namespace)
			return state(health)
		},
	}
	if auth == authKubernetes {
		cluster.Access = c
	}
	return cluster
}

func state(h informer.Health) web.ClusterState {
	return web.ClusterState{Asked: h.Asked, Reachable: h.Reachable, Synced: h.Synced, Problem: h.Error}
}

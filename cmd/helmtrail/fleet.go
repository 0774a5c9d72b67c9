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

// drainCheck is how often helmtrail checks whether operations still run in a
// cluster that was removed from the kubeconfig.
const drainCheck = time.Second

// fleet is the set of clusters in use. It is safe for concurrent use.
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

// ids returns the ids of all clusters.
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

// watching runs the watches of the fleet's clusters. It is not safe for concurrent
// use.
type watching struct {
	fleet      *fleet
	operations *stream.Operations
	server     *web.Server
	trail      *trail.Trail
	show       func(*informer.Cluster) web.Cluster
	logger     *slog.Logger

	// ctx is canceled to stop all watches; running waits for them.
	ctx     context.Context
	running errgroup.Group
	watches map[*informer.Cluster]clusterWatch
}

// clusterWatch stops the work for one cluster.
type clusterWatch struct {
	stopTrail func()
	unobserve func() // ends its observed sessions
	stop      context.CancelFunc
}

// start begins to watch a cluster. It fails if the cluster's trail cannot be opened.
func (w *watching) start(c *informer.Cluster) error {
	stopTrail, err := w.trail.Watch(c.ID, c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.watches[c] = clusterWatch{stopTrail, w.operations.Watch(c.ID, c), stop}
	w.running.Go(func() error {
		defer stop()
		return c.Run(ctx)
	})
	return nil
}

// added starts to serve a cluster that was added to the kubeconfig.
func (w *watching) added(c *informer.Cluster) {
	if err := w.server.AddCluster(w.show(c)); err != nil {
		w.logger.Error("could not add a cluster", "error", err)
		return
	}
	if err := w.start(c); err != nil {
		w.server.RemoveCluster(c.ID)
		w.logger.Error("could not add a cluster", "error", err)
		return
	}
	w.fleet.add(c)
}

// removed stops serving a cluster that was removed from the kubeconfig. Its watch
// continues until the operations that run there have ended.
func (w *watching) removed(c *informer.Cluster) {
	watch, ok := w.watches[c]
	if !ok {
		return // It could not be added.
	}
	delete(w.watches, c)
	w.server.RemoveCluster(c.ID)
	w.fleet.remove(c)
	watch.unobserve()
	watch.stopTrail()
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

// unobserve ends all observed sessions.
func (w *watching) unobserve() {
	for _, watch := range w.watches {
		watch.unobserve()
	}
}

// shown returns the clusters as web's type.
func shown(clusters []*informer.Cluster, show func(*informer.Cluster) web.Cluster) []web.Cluster {
	list := make([]web.Cluster, 0, len(clusters))
	for _, c := range clusters {
		list = append(list, show(c))
	}
	return list
}

// webCluster returns a cluster as web's type.
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

package informer

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FollowContexts calls added for every new context in the kubeconfig, and removed
// for every cluster whose context was removed, until ctx ends. It blocks, and
// calls one function at a time, in the order of the contexts' names. The clusters
// must be those that Open returned for these options.
//
// An incomplete context, or one whose id is reserved or taken, is logged and
// skipped. FollowContexts returns at once if the options name the contexts or if
// there is no kubeconfig, because contexts then cannot change. A changed
// kubeconfig is read after its files have not changed for a while, because they
// may be written in several steps. For the same reason a kubeconfig without
// contexts is ignored.
func FollowContexts(ctx context.Context, o Options, clusters []*Cluster, added, removed func(*Cluster)) {
	f := newContexts(o, clusters)
	if len(o.Contexts) > 0 || len(f.open) == 0 {
		return
	}
	tick := time.NewTicker(reloadEvery)
	defer tick.Stop()
	var read []string // empty: the files may have changed since Open
	before := f.from.look()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := f.from.look()
		settled := slices.Equal(now, before)
		before = now
		if !settled || slices.Equal(now, read) {
			continue
		}
		read = now
		f.change(added, removed)
	}
}

// contexts records which contexts of a kubeconfig are clusters.
type contexts struct {
	set  *opening
	from *source
	open map[string]*Cluster // by the context's name
}

func newContexts(o Options, clusters []*Cluster) *contexts {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	f := &contexts{set: &opening{options: o, owners: map[string]string{}}, from: &source{rules: rules}, open: map[string]*Cluster{}}
	for _, c := range clusters {
		f.set.owners[c.ID] = c.ID
		if c.source != nil && c.source.context != "" {
			f.set.owners[c.ID] = c.source.context
			f.open[c.source.context] = c
		}
	}
	return f
}

// change reads the kubeconfig again and reports the differences.
func (f *contexts) change(added, removed func(*Cluster)) {
	log := f.set.options.Log
	raw, err := f.from.rules.Load()
	if err != nil || len(raw.Contexts) == 0 {
		log.Warn("the kubeconfig has changed but has no readable context; keeping the clusters", "error", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.open)) {
		if c := f.open[name]; raw.Contexts[name] == nil {
			delete(f.open, name)
			delete(f.set.owners, c.ID)
			log.Info("context removed from the kubeconfig", "cluster", c.ID, "context", name)
			removed(c)
		}
	}
	for _, name := range contextNames(raw) {
		if f.open[name] == nil {
			f.add(name, raw, added)
		}
	}
}

// add opens a new context.
func (f *contexts) add(name string, raw *clientcmdapi.Config, added func(*Cluster)) {
	f.set.clusters = nil
	err := f.set.add(mapID(name), name, &source{rules: f.from.rules, context: name}, raw)
	if err != nil {
		f.set.options.Log.Warn("skipping a context", "error", err)
		return
	}
	c := f.set.clusters[0]
	f.open[name] = c
	f.set.options.Log.Info("context added to the kubeconfig", "cluster", c.ID, "context", name)
	added(c)
}

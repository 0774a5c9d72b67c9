package clusters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

// State is the state of a cluster's watch.
type State struct {
	// Asked means that the API server has answered or failed at least once.
	Asked bool
	// Reachable means that the API server answered the last request.
	Reachable bool
	// Synced means that all releases are known. It stays true if the cluster becomes
	// unreachable later: the last known state is still shown.
	Synced bool
	// Problem is a sentence that says why the cluster is not reachable or not synced.
	Problem string
}

// Releases is the state of a cluster's releases according to its watch. Its
// methods may be called concurrently, do not block, and return revisions that
// never change.
type Releases interface {
	// Latest returns the newest revision of every release of the namespace, ""
	// for all namespaces, in any order.
	Latest(namespace string) []*decoder.Revision
	// Revisions returns the revisions of one release, in any order.
	Revisions(namespace, name string) []*decoder.Revision
	// Version changes whenever the result of Latest changes.
	Version() uint64
	// ObserveAll calls f for every transition of the cluster, in order for each
	// release, until stop is called. When f is called for a transition, Latest
	// already includes it. f must not block.
	ObserveAll(f func(decoder.Transition)) (stop func())
}

// Options describes a cluster to serve.
type Options struct {
	// ID is the first segment of the cluster's URLs.
	ID string
	// State returns the state of the watch. It must not block.
	State func() State
	// StateIn returns the state of the watch of one namespace; nil means State.
	StateIn func(namespace string) State
	// Namespaces are the watched namespaces; none means all.
	Namespaces []string
	Releases   Releases
	// Observe is called for every transition after Releases and Feed include it.
	Observe func(decoder.Transition)
}

// Cluster is a served cluster. Its methods may be called concurrently.
type Cluster struct {
	Options
	*polling.Hub
	// Feed holds the newest transitions.
	Feed *Feed

	listing atomic.Pointer[Listing]
	gone    context.Context
	remove  context.CancelFunc
	stop    func() // stops observing
}

// New starts observing a cluster. Close must be called. Streams and long polls end when
// ctx does.
func New(ctx context.Context, o Options) *Cluster {
	c := &Cluster{Options: o, Feed: newFeed(o.ID)}
	c.gone, c.remove = context.WithCancel(ctx)
	c.Hub = polling.New(c.gone.Done(), o.Releases.Version)
	c.stop = o.Releases.ObserveAll(func(t decoder.Transition) {
		c.Feed.add(t)
		c.Changed(t.Revision.Namespace, t.Revision.Name)
		if o.Observe != nil {
			o.Observe(t)
		}
	})
	return c
}

// Close stops observing the cluster and ends its streams and long polls.
func (c *Cluster) Close() {
	c.stop()
	c.remove()
}

// Context returns a context that ends with ctx, or when the cluster is no longer
// served.
func (c *Cluster) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(c.gone, cancel)
	return ctx, func() {
		unlink()
		cancel()
	}
}

// CheckSynced fails until the cluster's releases are known, because an empty list
// would be wrong.
func (c *Cluster) CheckSynced() error { return c.checkSynced(c.State(), "cluster "+c.ID) }

// CheckSyncedIn is CheckSynced for one namespace; "" means all.
func (c *Cluster) CheckSyncedIn(namespace string) error {
	if namespace == "" || c.StateIn == nil {
		return c.CheckSynced()
	}
	return c.checkSynced(c.StateIn(namespace), "namespace "+namespace)
}

func (c *Cluster) checkSynced(state State, what string) error {
	if state.Synced {
		return nil
	}
	e := httpapi.Unavailable("The releases of " + what + " are still being read.")
	if !state.Reachable {
		e = httpapi.Unreachable("Cluster " + c.ID + " cannot be reached.")
	}
	if state.Problem != "" {
		e.Message += " " + state.Problem
	}
	return e
}

// CheckWatched fails if a request's namespace is not watched. namespace may be "".
func (c *Cluster) CheckWatched(namespace string) error {
	if namespace == "" || len(c.Options.Namespaces) == 0 || slices.Contains(c.Options.Namespaces, namespace) {
		return nil
	}
	return httpapi.Denied(&helmtrail.ForbiddenError{
		User:   "helmtrail",
		Right:  helmtrail.Right{Verb: "list", Resource: "secrets", Namespace: namespace},
		Reason: "it watches only " + strings.Join(c.Options.Namespaces, ", "),
	})
}

// Explain returns the reason why a request to the API server failed: that the
// cluster is unreachable, or otherwise err.
func (c *Cluster) Explain(err error) error {
	if errors.Is(err, budget.ErrBusy) {
		return err // It says nothing about the cluster.
	}
	if state := c.State(); !state.Reachable {
		return httpapi.Unreachable("Cluster " + c.ID + " cannot be reached. " + state.Problem)
	}
	return err
}

// Newest returns a release's newest revision, or nil.
func (c *Cluster) Newest(ref helmtrail.ReleaseRef) *decoder.Revision {
	revisions := c.Releases.Revisions(ref.Namespace, ref.Name)
	if len(revisions) == 0 {
		return nil
	}
	return slices.MaxFunc(revisions, func(a, b *decoder.Revision) int { return cmp.Compare(a.Number, b.Number) })
}

// LiveRevision returns the number of the highest deployed revision of a release,
// or of the newest if none is deployed.
func (c *Cluster) LiveRevision(ref helmtrail.ReleaseRef) (int, error) {
	revisions := c.Releases.Revisions(ref.Namespace, ref.Name)
	if len(revisions) == 0 {
		if err := c.CheckSyncedIn(ref.Namespace); err != nil {
			return 0, err
		}
		return 0, httpapi.NoRelease(ref)
	}
	newest, live := 0, 0
	for _, r := range revisions {
		newest = max(newest, r.Number)
		if r.Status() == decoder.StatusDeployed {
			live = max(live, r.Number)
		}
	}
	if live == 0 {
		return newest, nil
	}
	return live, nil
}

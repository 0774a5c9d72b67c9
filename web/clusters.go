package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/stream"
)

// Cluster is one watched cluster.
type Cluster struct {
	// ID is the first segment of the cluster's addresses.
	ID string
	// Server is the address of its API server.
	Server string
	// HelmVersion is the version of the helm that operations run.
	HelmVersion string
	// State tells how the watch stands. It must not block.
	State func() ClusterState
	// Namespaces are those that are watched, none for all.
	Namespaces []string
	// StateIn tells how the watch of one namespace stands; nil for State.
	StateIn func(namespace string) ClusterState
	// Releases is what the watch knows.
	Releases Releases
	// Access tells what callers may do; nil lets everybody do everything.
	Access Access
	// Objects reads the objects of releases.
	Objects Objects
	// Comparer compares releases with what is there.
	Comparer Comparer
	// API reads what else the OpenShift console's contract needs; nil when it
	// is not served.
	API ClusterAPI
}

// ClusterState is how the watch of a cluster stands.
type ClusterState struct {
	// Asked means that there has been an answer, or a failure.
	Asked bool
	// Reachable means that its API server answered the last time it was asked.
	Reachable bool
	// Synced means that all its releases are known. It stays true when the
	// cluster is lost later on: what was known is still shown.
	Synced bool
	// Problem says in words why it is not reachable or not synced.
	Problem string
}

// Releases is what web needs of a cluster's watch. Its methods may be called
// concurrently, do not block, and return revisions that never change.
type Releases interface {
	// Latest returns the newest revision of every release of the namespace, ""
	// for all namespaces, in any order.
	Latest(namespace string) []*decoder.Revision
	// Revisions returns the revisions of one release, in any order.
	Revisions(namespace, name string) []*decoder.Revision
	// Version changes whenever what Latest returns has changed.
	Version() uint64
	// ObserveAll calls f for every transition of the cluster, those of one
	// release in order, until stop is called. What Latest returns holds a
	// transition at the latest when f is called for it. f does not block.
	ObserveAll(f func(decoder.Transition)) (stop func())
}

// watched is a cluster with what web keeps for it.
type watched struct {
	Cluster
	feed    *feed
	changes *changes
	listing atomic.Pointer[listing]
	// stop stops observing the cluster.
	stop func()
	// gone ends when leave is called: the cluster is served no more.
	gone  context.Context
	leave context.CancelFunc
}

func newWatched(c Cluster, m *meter) *watched {
	w := &watched{Cluster: c, feed: newFeed(c.ID), changes: newChanges()}
	w.gone, w.leave = context.WithCancel(context.Background())
	w.stop = c.Releases.ObserveAll(func(t decoder.Transition) {
		w.feed.add(t)
		w.changes.told(t)
		m.seen(c.ID, t)
	})
	return w
}

// synced fails as long as the cluster's releases are not known: an empty list
// would be a lie.
func (w *watched) synced() error { return w.knows(w.State(), "cluster "+w.ID) }

// syncedIn is synced for one namespace, "" for all.
func (w *watched) syncedIn(namespace string) error {
	if namespace == "" || w.StateIn == nil {
		return w.synced()
	}
	return w.knows(w.StateIn(namespace), "namespace "+namespace)
}

// watches fails when helmtrail does not watch the namespace of a request.
func (w *watched) watches(namespace string) error {
	if namespace == "" || len(w.Namespaces) == 0 || slices.Contains(w.Namespaces, namespace) {
		return nil
	}
	return forbidden(&stream.ForbiddenError{
		User:   "helmtrail",
		Right:  stream.Right{Verb: "list", Resource: "secrets", Namespace: namespace},
		Reason: "it watches only " + strings.Join(w.Namespaces, ", "),
	})
}

// knows fails unless the state of what is watched is that all is known.
func (w *watched) knows(state ClusterState, what string) error {
	if state.Synced {
		return nil
	}
	e := &apiError{status: http.StatusServiceUnavailable, code: codeUnavailable, message: "The releases of " + what + " are still being read."}
	if !state.Reachable {
		e.code, e.message = codeUnreachable, "Cluster "+w.ID+" cannot be reached."
	}
	if state.Problem != "" {
		e.message += " " + state.Problem
	}
	return e
}

type clusterItem struct {
	ID          string `json:"id"`
	Server      string `json:"server"`
	Reachable   bool   `json:"reachable"`
	Problem     string `json:"problem,omitempty"`
	HelmVersion string `json:"helmVersion"`
	Synced      bool   `json:"synced"`
	// Namespaces are those that are watched; without them all are.
	Namespaces []string `json:"namespaces,omitempty"`
}

type clusterList struct {
	Items []clusterItem `json:"items"`
}

func (s *Server) listClusters(c *gin.Context) error {
	list := clusterList{Items: []clusterItem{}}
	known := map[string]bool{}
	if s.signIn {
		for _, i := range s.identities(c) {
			// A cluster that cannot be asked is listed with what is wrong with it.
			known[i.cluster.ID] = i.err == nil || errors.Is(i.err, stream.ErrNotReviewed)
		}
	}
	for _, cluster := range s.clusters.all() {
		if s.signIn && !known[cluster.ID] {
			continue // One that was added just now has not been asked.
		}
		state := cluster.State()
		list.Items = append(list.Items, clusterItem{
			ID: cluster.ID, Server: cluster.Server, HelmVersion: cluster.HelmVersion,
			Reachable: state.Reachable, Problem: state.Problem, Synced: state.Synced,
			Namespaces: cluster.Namespaces,
		})
	}
	writeJSON(c, http.StatusOK, list)
	return nil
}

type healthBody struct {
	Status string `json:"status"`
}

// health says that the process is alive, whatever else is wrong.
func (s *Server) health(c *gin.Context) error {
	writeJSON(c, http.StatusOK, healthBody{"ok"})
	return nil
}

// readiness lists what the server still waits for.
func (s *Server) readiness(c *gin.Context) error {
	var missing []string
	if s.options.NotReady != nil {
		missing = s.options.NotReady()
	}
	missing = append(missing, s.unread()...)
	if len(missing) == 0 {
		writeJSON(c, http.StatusOK, healthBody{"ok"})
		return nil
	}
	return &apiError{
		status: http.StatusServiceUnavailable, code: codeUnavailable, message: "The server is not ready.",
		details: struct {
			NotReady []string `json:"notReady"`
		}{missing},
	}
}

// unread lists the clusters for which the server waits. One that has failed to
// answer does not keep the server from serving the others.
func (s *Server) unread() []string {
	var missing, failed []string
	clusters := s.clusters.all()
	if len(clusters) == 0 {
		return []string{"There is no cluster to watch."}
	}
	for _, cluster := range clusters {
		err := cluster.synced()
		if err == nil {
			continue
		}
		known, _ := toAPI(err)
		if state := cluster.State(); state.Asked && !state.Reachable {
			failed = append(failed, known.message)
		} else {
			missing = append(missing, known.message)
		}
	}
	if len(failed) == len(clusters) {
		missing = append(missing, failed...)
	}
	return missing
}

func (s *Server) openAPI(c *gin.Context) error {
	c.Header("Cache-Control", "no-cache")
	if unchanged(c, docs.OpenAPI) {
		return nil
	}
	c.Data(http.StatusOK, "application/yaml", docs.OpenAPI)
	return nil
}

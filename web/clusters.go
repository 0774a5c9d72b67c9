package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

type clusterItem struct {
	ID          string `json:"id"`
	Server      string `json:"server"`
	Reachable   bool   `json:"reachable"`
	Problem     string `json:"problem,omitempty"`
	HelmVersion string `json:"helmVersion"`
	Synced      bool   `json:"synced"`
	// Namespaces are the watched namespaces; omitted if all are watched.
	Namespaces []string `json:"namespaces,omitempty"`
}

type clusterList struct {
	Items []clusterItem `json:"items"`
}

// listClusters answers with the clusters that know the caller.
func (s *Server) listClusters(c *gin.Context) error {
	list := clusterList{Items: []clusterItem{}}
	known := map[string]bool{}
	if s.signIn {
		for _, i := range s.callers.identities(c) {
			// A cluster that does not answer is listed with its problem.
			known[i.cluster.ID] = i.err == nil || errors.Is(i.err, helmtrail.ErrNotReviewed)
		}
	}
	for _, cluster := range s.clusters.all() {
		if s.signIn && !known[cluster.ID] {
			continue // A cluster that was just added has not been asked.
		}
		state := cluster.State()
		list.Items = append(list.Items, clusterItem{
			ID: cluster.ID, Server: cluster.server, HelmVersion: cluster.helmVersion,
			Reachable: state.Reachable, Problem: state.Problem, Synced: state.Synced,
			Namespaces: cluster.Namespaces,
		})
	}
	httpapi.WriteJSON(c, http.StatusOK, list)
	return nil
}

type healthBody struct {
	Status string `json:"status"`
}

// health answers that the process is alive.
func (s *Server) health(c *gin.Context) error {
	httpapi.WriteJSON(c, http.StatusOK, healthBody{"ok"})
	return nil
}

// readiness answers 503 with what is missing, or 200.
func (s *Server) readiness(c *gin.Context) error {
	var missing []string
	if s.options.NotReady != nil {
		missing = s.options.NotReady()
	}
	missing = append(missing, s.unread()...)
	if len(missing) == 0 {
		httpapi.WriteJSON(c, http.StatusOK, healthBody{"ok"})
		return nil
	}
	notReady := httpapi.Unavailable("The server is not ready.")
	notReady.Details = struct {
		NotReady []string `json:"notReady"`
	}{missing}
	return notReady
}

// unread returns the problems of clusters that the server waits for. It does not
// wait for an unreachable cluster, unless all are unreachable.
func (s *Server) unread() []string {
	var missing, failed []string
	clusters := s.clusters.all()
	if len(clusters) == 0 {
		return []string{"There is no cluster to watch."}
	}
	for _, cluster := range clusters {
		err := cluster.CheckSynced()
		if err == nil {
			continue
		}
		known, _ := httpapi.FromError(err)
		if state := cluster.State(); state.Asked && !state.Reachable {
			failed = append(failed, known.Message)
		} else {
			missing = append(missing, known.Message)
		}
	}
	if len(failed) == len(clusters) {
		missing = append(missing, failed...)
	}
	return missing
}

// openAPI answers with the description of all routes.
func (s *Server) openAPI(c *gin.Context) error {
	c.Header("Cache-Control", httpapi.Revalidate)
	if httpapi.Unchanged(c, docs.OpenAPI) {
		return nil
	}
	c.Data(http.StatusOK, "application/yaml", docs.OpenAPI)
	return nil
}

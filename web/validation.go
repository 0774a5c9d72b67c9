package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// getValidation tells what applying the objects that a dry run has rendered
// would do, as the API server says with the caller's own rights. Helm's own dry
// run does not ask it.
func (s *Server) getValidation(c *gin.Context) error {
	ref, rendering, err := s.rendering(c)
	if err != nil {
		return err
	}
	cluster, err := s.served(ref.Cluster)
	if err != nil {
		return err
	}
	query := stream.ValidationQuery{Release: ref, Manifest: renderedText(rendering), Masker: s.masker(ref), Credentials: grantOf(c).caller()}
	// What the release's record has for secret may stand in its live objects, so
	// without that record nothing is shown of them.
	if err := cluster.syncedIn(ref.Namespace); err != nil {
		return err
	}
	if revision, err := cluster.liveRevision(ref); err == nil {
		record, err := s.record(c, revisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Revision: revision})
		if err != nil {
			return err
		}
		query.Known = []mask.Source{mask.FromRecord(record)}
	}
	found, err := cluster.Comparer.Validate(c.Request.Context(), query)
	if err != nil {
		return cluster.asked(err)
	}
	writeJSON(c, http.StatusOK, found)
	return nil
}

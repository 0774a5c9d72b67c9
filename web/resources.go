package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// resourceList has a release's objects at one moment.
type resourceList struct {
	Revision  int               `json:"revision"`
	Resources []health.Resource `json:"resources"`
	Summary   health.Summary    `json:"summary"`
}

// listResources answers with the present objects of a release's newest revision,
// limited to what the caller may see, whether or not an operation is running.
// Objects that only earlier revisions contain are not included.
func (s *Server) listResources(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := cluster.CheckSyncedIn(ref.Namespace); err != nil {
		return err
	}
	newest := cluster.Newest(ref)
	if newest == nil {
		return httpapi.NoRelease(ref)
	}
	if newest.Problem != "" {
		return unreadableObjects(ref, newest.Problem)
	}
	record, err := cluster.objects.Record(c.Request.Context(), ref.Namespace, ref.Name, newest.Number)
	switch {
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return unreadableObjects(ref, err.Error())
	case err != nil:
		return cluster.Explain(err)
	}
	viewer := authz.CallerOf(c).Viewer()
	rows, err := cluster.objects.Now(c.Request.Context(), record, viewer)
	if err != nil {
		return cluster.Explain(err)
	}
	secrets := s.history.Masker(ref).Within(c.Request.Context()).Collect(mask.FromRecord(record))
	masked := make([]health.Resource, len(rows))
	for i, row := range rows {
		masked[i] = stream.MaskRow(row, secrets.Text)
	}
	summary := stream.Summarize(masked)
	read := func(ctx context.Context, source health.LogSource) (string, error) {
		return cluster.objects.ContainerLog(ctx, source, viewer)
	}
	stream.AddLogs(c.Request.Context(), summary.Causes, read, secrets.Text)
	httpapi.WriteJSON(c, http.StatusOK, resourceList{Revision: newest.Number, Resources: masked, Summary: summary})
	return nil
}

func unreadableObjects(ref helmtrail.ReleaseRef, why string) error {
	return httpapi.Unavailable("The record that names the objects of " + ref.Name + " cannot be read: " + why)
}

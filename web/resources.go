package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// Objects is what web needs to show a release's objects. Its methods ask the
// API server and may be called concurrently.
type Objects interface {
	// Record fetches one revision in full. It fails with stream.ErrNotFound
	// when there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
	// Now returns the rows of the record's objects as they are now, as far as the
	// viewer may see them. Asking again soon costs the API server nothing.
	Now(ctx context.Context, record *decoder.Record, viewer stream.Viewer) ([]stream.Resource, error)
	// ContainerLog returns the end of what a container has written, not masked,
	// if the viewer may read it.
	ContainerLog(ctx context.Context, source stream.LogSource, viewer stream.Viewer) (string, error)
}

// resourceList is a release's objects at a moment.
type resourceList struct {
	Revision  int               `json:"revision"`
	Resources []stream.Resource `json:"resources"`
	Summary   stream.Summary    `json:"summary"`
}

// listResources tells how the objects of a release's newest revision are,
// whether or not an operation is running, as far as the caller may see
// them. What a chart made once and its newest revision does not name is not
// among them.
func (s *Server) listResources(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := cluster.syncedIn(ref.Namespace); err != nil {
		return err
	}
	revisions := cluster.Releases.Revisions(ref.Namespace, ref.Name)
	if len(revisions) == 0 {
		return noRelease(ref)
	}
	newest := slices.MaxFunc(revisions, func(a, b *decoder.Revision) int { return cmp.Compare(a.Number, b.Number) })
	if newest.Problem != "" {
		return &apiError{
			status: http.StatusServiceUnavailable, code: codeUnavailable,
			message: "The record that names the objects of " + ref.Name + " cannot be read: " + newest.Problem,
		}
	}
	record, err := cluster.Objects.Record(c.Request.Context(), ref.Namespace, ref.Name, newest.Number)
	if err != nil {
		return cluster.asked(err)
	}
	viewer := grantOf(c).viewer()
	rows, err := cluster.Objects.Now(c.Request.Context(), record, viewer)
	if err != nil {
		return cluster.asked(err)
	}
	secrets := s.masker(ref).Collect(mask.FromRecord(record))
	masked := make([]stream.Resource, len(rows))
	for i, row := range rows {
		masked[i] = row.Masked(secrets.Text)
	}
	summary := stream.Summarize(masked)
	read := func(ctx context.Context, source stream.LogSource) (string, error) {
		return cluster.Objects.ContainerLog(ctx, source, viewer)
	}
	stream.AddLogs(c.Request.Context(), summary.Causes, read, secrets.Text)
	writeJSON(c, http.StatusOK, resourceList{Revision: newest.Number, Resources: masked, Summary: summary})
	return nil
}

// asked is why a question to the API server failed.
func (w *watched) asked(err error) error {
	if state := w.State(); !state.Reachable {
		return &apiError{status: http.StatusServiceUnavailable, code: codeUnreachable, message: "Cluster " + w.ID + " cannot be reached. " + state.Problem}
	}
	return err
}

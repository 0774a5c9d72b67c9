package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// Comparer asks the API server how a release's objects are and how they would
// become. It changes nothing. Its methods may be called concurrently.
type Comparer interface {
	// Drift compares a record's objects with the live ones.
	Drift(ctx context.Context, query stream.DriftQuery) (*stream.Drift, error)
	// Validate tells what applying a rendered manifest would do.
	Validate(ctx context.Context, query stream.ValidationQuery) (*stream.Validation, error)
}

// getDrift compares the objects that a revision names with the live ones, with
// the caller's own rights.
func (s *Server) getDrift(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	at := revisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name}
	if text := c.Query("revision"); text != "" {
		at.Revision, err = revisionNumber("revision", text)
	} else {
		at.Revision, err = cluster.liveRevision(ref)
	}
	if err != nil {
		return err
	}
	query := stream.DriftQuery{Release: ref, Masker: s.masker(ref), Credentials: grantOf(c).caller()}
	reveals, err := s.reveals(c, ref)
	if err != nil {
		return err
	}
	if query.Record, err = s.record(c, at); err != nil {
		return err
	}
	if reveals {
		if err := s.reveal(c, at, "drift"); err != nil {
			return err
		}
		query.Masker = nil
		c.Header("Cache-Control", "no-store")
	}
	found, err := cluster.Comparer.Drift(c.Request.Context(), query)
	if err != nil {
		return cluster.asked(err)
	}
	found.Revision = at.Revision
	writeJSON(c, http.StatusOK, found)
	return nil
}

// caller is with what the caller of a request asks a cluster; on a server
// without login that is helmtrail's own.
func (g *grant) caller() stream.Credentials {
	if g == nil {
		return stream.Credentials{}
	}
	return g.credentials
}

// liveRevision is the number of the deployed revision that counts, the highest;
// without one, of the newest.
func (w *watched) liveRevision(ref stream.ReleaseRef) (int, error) {
	revisions := w.Releases.Revisions(ref.Namespace, ref.Name)
	if len(revisions) == 0 {
		if err := w.syncedIn(ref.Namespace); err != nil {
			return 0, err
		}
		return 0, noRelease(ref)
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

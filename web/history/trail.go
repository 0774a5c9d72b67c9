package history

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// TrailPage is one page of a trail.
type TrailPage struct {
	// Items are entries in the order of the chain, the oldest first.
	Items []audit.Entry `json:"items"`
	// State says whether the whole cluster's chain is intact.
	State    audit.State `json:"state"`
	Continue string      `json:"continue,omitempty"`
}

// trailRequest is a client's query.
type trailRequest struct {
	query audit.Query
	// lineage selects the entries of one lineage of a release; "" means all.
	lineage string
	// limit is the maximum number of entries; 0 means no limit.
	limit int
}

// GetReleaseTrail answers with the trail of one release.
func (s *Server) GetReleaseTrail(c *gin.Context) error {
	ref, cluster, err := s.release(c)
	if err != nil {
		return err
	}
	request, err := s.readTrailRequest(c)
	if err != nil {
		return err
	}
	ctx, caller := c.Request.Context(), authz.CallerOf(c)
	lineages, err := s.lineagesFor(ctx, caller, ref)
	if err != nil {
		return err
	}
	revisions, err := inCluster(cluster, ref)
	if len(lineages) == 0 && len(revisions) == 0 {
		if err != nil {
			return err
		}
		return httpapi.NoRelease(ref)
	}
	if request.lineage = c.Query("lineage"); request.lineage != "" {
		if _, err := s.lineage(ctx, caller, ref, request.lineage); err != nil {
			return err
		}
	}
	request.query.Cluster, request.query.Namespace, request.query.Release = ref.Cluster, ref.Namespace, ref.Name
	return s.writeTrail(c, cluster, request, newTrailView(s.Trail, authz.NewFilter(caller, authz.Get)))
}

// GetTrail answers with the trail of a cluster, limited to the namespaces in
// which the caller may list releases.
func (s *Server) GetTrail(c *gin.Context) error {
	cluster, err := s.Cluster(c.Param("cluster"))
	if err != nil {
		return err
	}
	request, err := s.readTrailRequest(c)
	if err != nil {
		return err
	}
	request.query.Cluster, request.query.Namespace, request.query.Release = cluster.ID, c.Query("namespace"), c.Query("release")
	return s.writeTrail(c, cluster, request, newTrailView(s.Trail, authz.NewFilter(authz.CallerOf(c), authz.List)))
}

func (s *Server) readTrailRequest(c *gin.Context) (trailRequest, error) {
	r := trailRequest{query: audit.Query{User: c.Query("user")}}
	if s.Trail == nil {
		return r, httpapi.NotFound("This server keeps no trail.")
	}
	if text := c.Query("since"); text != "" {
		var err error
		if r.query.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return r, httpapi.BadField("since", "since must be a time such as 2026-01-31T08:00:00Z.")
		}
	}
	if text := c.Query("continue"); text != "" {
		var err error
		if r.query.After, err = strconv.ParseUint(text, 10, 64); err != nil {
			return r, httpapi.BadField("continue", "continue must be a token from the previous page, or the position of an entry.")
		}
	}
	if wantsLines(c) && c.Query("limit") == "" {
		return r, nil
	}
	var err error
	r.limit, err = httpapi.Limit(c)
	return r, err
}

func wantsLines(c *gin.Context) bool {
	return httpapi.Negotiate(c, httpapi.JSON, httpapi.Lines) == httpapi.Lines
}

// writeTrail answers with a page as JSON, or with all requested entries, one per line.
func (s *Server) writeTrail(c *gin.Context, cluster Cluster, request trailRequest, view *trailView) error {
	c.Writer.Header().Add("Vary", "Accept")
	if wantsLines(c) {
		return s.writeTrailLines(c, cluster, request, view)
	}
	ctx := c.Request.Context()
	verify, err := httpapi.QueryBool(c, "verify")
	if err != nil {
		return err
	}
	page := TrailPage{Items: []audit.Entry{}}
	for e, err := range view.entries(ctx, request) {
		if err != nil {
			return err
		}
		if len(page.Items) == request.limit {
			page.Continue = strconv.FormatUint(page.Items[request.limit-1].Position, 10)
			break
		}
		page.Items = append(page.Items, e)
	}
	if page.State, err = s.Trail.State(ctx, cluster.ID, verify); err != nil {
		return fmt.Errorf("read the state of the trail of cluster %s: %w", cluster.ID, err)
	}
	httpapi.WriteJSON(c, http.StatusOK, page)
	return nil
}

// bytesAtOnce is the size of the parts in which an answer in lines is sent.
const bytesAtOnce = 64 << 10

// writeTrailLines sends entries as they are read, so that a trail may have any
// length. An answer is complete unless the connection breaks.
func (s *Server) writeTrailLines(c *gin.Context, cluster Cluster, request trailRequest, view *trailView) error {
	ctx, cancel := cluster.Context(c.Request.Context())
	defer cancel()
	var out *httpapi.Paced
	var lines []byte
	send := func() error {
		if out == nil {
			out = s.OpenPaced(c, string(httpapi.Lines))
		}
		err := out.Write(lines)
		lines = lines[:0]
		return err
	}
	sent := 0
	for e, err := range view.entries(ctx, request) {
		if err == nil && request.limit > 0 && sent == request.limit {
			break
		}
		if err == nil {
			lines, sent = append(lines, httpapi.EncodeJSON(&e)...), sent+1
			if len(lines) >= bytesAtOnce {
				err = send()
			}
		}
		if err == nil {
			continue
		}
		if out == nil {
			return err // Nothing has been sent, so it is answered like any other error.
		}
		if ctx.Err() == nil {
			s.Logger.Warn("a trail was not sent completely", "cluster", cluster.ID, "error", err)
		}
		panic(http.ErrAbortHandler) // This shows the reader that it is incomplete.
	}
	if err := send(); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

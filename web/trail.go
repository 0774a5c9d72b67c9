package web

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// trailList is one page of a trail.
type trailList struct {
	// Items are entries in the order of the chain, the oldest first.
	Items []stream.TrailEntry `json:"items"`
	// State tells whether the whole cluster's chain holds.
	State    stream.TrailState `json:"state"`
	Continue string            `json:"continue,omitempty"`
}

// trailRequest is what a trail was asked for.
type trailRequest struct {
	query stream.TrailQuery
	// lineage selects the entries of one life of a release; "" for all.
	lineage string
	// limit bounds the entries that are shown; 0 for none.
	limit int
}

// getReleaseTrail answers with what the trail tells of one release.
func (s *Server) getReleaseTrail(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	request, err := s.readTrailRequest(c)
	if err != nil {
		return err
	}
	lives, err := s.lives(c, ref)
	if err != nil {
		return err
	}
	revisions, err := cluster.revisions(ref)
	if len(lives) == 0 && len(revisions) == 0 {
		if err != nil {
			return err
		}
		return noRelease(ref)
	}
	if request.lineage = c.Query("lineage"); request.lineage != "" {
		if _, err := s.life(c, ref, request.lineage); err != nil {
			return err
		}
	}
	request.query.Cluster, request.query.Namespace, request.query.Release = ref.Cluster, ref.Namespace, ref.Name
	return s.writeTrail(c, request, s.newTrailView(c, needGet))
}

// getTrail answers with what the trail tells of a cluster, as far as the caller
// may list its releases.
func (s *Server) getTrail(c *gin.Context) error {
	cluster, err := s.cluster(c)
	if err != nil {
		return err
	}
	request, err := s.readTrailRequest(c)
	if err != nil {
		return err
	}
	request.query.Cluster, request.query.Namespace, request.query.Release = cluster.ID, c.Query("namespace"), c.Query("release")
	return s.writeTrail(c, request, s.newTrailView(c, needList))
}

func (s *Server) readTrailRequest(c *gin.Context) (trailRequest, error) {
	r := trailRequest{query: stream.TrailQuery{User: c.Query("user")}}
	if s.options.Trail == nil {
		return r, &apiError{status: http.StatusNotFound, code: codeNotFound, message: "This server keeps no trail."}
	}
	if text := c.Query("since"); text != "" {
		var err error
		if r.query.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return r, badRequest("since", "since must be a time such as 2026-01-31T08:00:00Z.")
		}
	}
	if text := c.Query("continue"); text != "" {
		var err error
		if r.query.After, err = strconv.ParseUint(text, 10, 64); err != nil {
			return r, badRequest("continue", "continue must be what the page before said, or the position of an entry.")
		}
	}
	lines := negotiate(c, formatJSON, formatLines) == formatLines
	if lines && c.Query("limit") == "" {
		return r, nil
	}
	var err error
	r.limit, err = parseLimit(c.Query("limit"))
	return r, err
}

// writeTrail answers with a page as JSON, or with all that is asked for, an
// entry a line.
func (s *Server) writeTrail(c *gin.Context, request trailRequest, view *trailView) error {
	c.Header("Vary", "Accept")
	if negotiate(c, formatJSON, formatLines) == formatLines {
		return s.writeTrailLines(c, request, view)
	}
	ctx := c.Request.Context()
	verify, err := queryBool(c, "verify")
	if err != nil {
		return err
	}
	list := trailList{Items: []stream.TrailEntry{}}
	for e, err := range view.entries(ctx, request) {
		if err != nil {
			return err
		}
		if len(list.Items) == request.limit {
			list.Continue = strconv.FormatUint(list.Items[request.limit-1].Position, 10)
			break
		}
		list.Items = append(list.Items, e)
	}
	if list.State, err = s.options.Trail.State(ctx, request.query.Cluster, verify); err != nil {
		return fmt.Errorf("tell how the trail of cluster %s stands: %w", request.query.Cluster, err)
	}
	writeJSON(c, http.StatusOK, list)
	return nil
}

// linesAtOnce is how much of an answer in lines is gathered before it is sent,
// in bytes.
const linesAtOnce = 64 << 10

// writeTrailLines sends entries as they are read, so that no trail is too long.
// An answer that is not cut off is complete.
func (s *Server) writeTrailLines(c *gin.Context, request trailRequest, view *trailView) error {
	ctx, cancel := s.streamContext(c)
	defer cancel()
	var out *paced
	var lines []byte
	send := func() error {
		if out == nil {
			out = s.openPaced(c, string(formatLines))
		}
		err := out.write(lines)
		lines = lines[:0]
		return err
	}
	sent := 0
	for e, err := range view.entries(ctx, request) {
		if err == nil && request.limit > 0 && sent == request.limit {
			break
		}
		if err == nil {
			lines, sent = append(lines, encodeJSON(&e)...), sent+1
			if len(lines) >= linesAtOnce {
				err = send()
			}
		}
		if err == nil {
			continue
		}
		if out == nil {
			return err // Nothing was sent yet, so it is an error like others.
		}
		if ctx.Err() == nil {
			s.logger.Warn("a trail was not sent to its end", "cluster", request.query.Cluster, "error", err)
		}
		panic(http.ErrAbortHandler) // The reader has to see that it is not complete.
	}
	if err := send(); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// trailView is what the reader of a trail may see of it. It belongs to one
// request.
type trailView struct {
	server   *Server
	readable *readable
	// lives are what is known of releases' lives.
	lives map[stream.ReleaseRef]knownLives
}

// knownLives are the lives of a release by id: whether they are lived in the
// namespace of today, and whether any is not.
type knownLives struct {
	current map[string]bool
	former  bool
}

// newTrailView returns the view of a caller who needs a right on the namespace
// of each entry.
func (s *Server) newTrailView(c *gin.Context, right need) *trailView {
	return &trailView{server: s, readable: &readable{grant: grantOf(c), need: right}, lives: map[stream.ReleaseRef]knownLives{}}
}

// entries are those that are asked for and may be shown. It ends with the first
// error.
func (v *trailView) entries(ctx context.Context, request trailRequest) iter.Seq2[stream.TrailEntry, error] {
	return func(yield func(stream.TrailEntry, error) bool) {
		query := request.query
		query.Readable = v.readable.may
		given := 0
		for more := true; more; {
			query.Limit = stream.MaxTrailPage
			if request.limit > 0 {
				// One more tells whether the page is the last.
				query.Limit = min(query.Limit, max(1, request.limit+1-given))
			}
			var page []stream.TrailEntry
			var err error
			if page, more, err = v.server.options.Trail.Entries(ctx, query); err != nil {
				yield(stream.TrailEntry{}, fmt.Errorf("read the trail of cluster %s: %w", query.Cluster, err))
				return
			}
			for _, e := range page {
				query.After = e.Position
				shown, err := v.shows(ctx, e)
				if err == nil && (!shown || request.lineage != "" && e.Lineage != request.lineage) {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
				given++
			}
			more = more && len(page) > 0
		}
	}
}

// shows tells whether an entry may be shown. Those of a former namespace's
// lives, and of the whole cluster, are for those who have the right in all
// namespaces. That nothing watched the cluster is for everybody: it tells of
// nobody, and without it a trail would look complete that is not.
func (v *trailView) shows(ctx context.Context, e stream.TrailEntry) (bool, error) {
	if e.Kind == stream.TrailGap && e.Namespace == "" {
		return true, v.readable.grant.still(ctx)
	}
	ok, err := v.readable.may(ctx, e.Namespace)
	if err != nil || !ok || e.Release == "" || v.isCurrent(e) {
		return ok, err
	}
	return v.readable.may(ctx, "")
}

// isCurrent tells whether an entry is about a life in the namespace of today.
// One that names no life that is known is so if all are.
func (v *trailView) isCurrent(e stream.TrailEntry) bool {
	ref := stream.ReleaseRef{Cluster: e.Cluster, Namespace: e.Namespace, Name: e.Release}
	lives, known := v.lives[ref]
	if !known {
		lives.current = map[string]bool{}
		for _, l := range v.server.options.Trail.Lineages(ref) {
			lives.current[l.ID] = l.Current
			lives.former = lives.former || !l.Current
		}
		v.lives[ref] = lives
	}
	if current, known := lives.current[e.Lineage]; known {
		return current
	}
	return !lives.former
}

// namespaces are those of a cluster that have releases, or once had some and
// are still there, sorted.
func (s *Server) namespaces(cluster *watched) []string {
	names := cluster.namespaces()
	if s.options.Trail == nil {
		return names
	}
	for _, ref := range s.options.Trail.Releases(cluster.ID, "") {
		if slices.Contains(names, ref.Namespace) {
			continue
		}
		if slices.ContainsFunc(s.options.Trail.Lineages(ref), func(l stream.Lineage) bool { return l.Current }) {
			names = append(names, ref.Namespace)
		}
	}
	slices.Sort(names)
	return names
}

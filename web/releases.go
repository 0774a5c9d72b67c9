package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// releaseItem is a release as lists and single answers show it.
type releaseItem struct {
	Cluster      string         `json:"cluster"`
	Namespace    string         `json:"namespace"`
	Name         string         `json:"name"`
	Revision     int            `json:"revision"`
	Status       decoder.Status `json:"status"`
	LabelStatus  decoder.Status `json:"labelStatus,omitempty"`
	Description  string         `json:"description"`
	Chart        string         `json:"chart"`
	ChartVersion string         `json:"chartVersion"`
	AppVersion   string         `json:"appVersion"`
	Updated      time.Time      `json:"updated"`
	Problem      string         `json:"problem,omitempty"`
	// Stuck is null unless the release was left in a pending status.
	Stuck *stream.Stuck `json:"stuck"`
	// Session tells what happens to the release now; null when nothing does.
	Session *string `json:"session"`
}

type releaseList struct {
	Items    []releaseItem `json:"items"`
	Continue string        `json:"continue,omitempty"`
	Cursor   string        `json:"cursor"`
}

// happening is what goes on with a release.
type happening struct {
	session string // the running or observed session, "" for none
	stuck   *stream.Stuck
}

func (s *Server) happening(ctx context.Context, cluster string, r *decoder.Revision) (happening, error) {
	ref := stream.ReleaseRef{Cluster: cluster, Namespace: r.Namespace, Name: r.Name}
	var h happening
	h.session, _ = s.options.Operations.Active(ref)
	var err error
	h.stuck, err = s.options.Operations.Stuck(ctx, ref, r)
	return h, err
}

// newReleaseItem shows a revision.
func newReleaseItem(cluster string, r *decoder.Revision, now happening) releaseItem {
	item := releaseItem{
		Cluster: cluster, Namespace: r.Namespace, Name: r.Name, Revision: r.Number,
		Status: r.Status(), LabelStatus: disagreeing(r), Updated: updated(r), Problem: r.Problem,
	}
	if h := r.Header; h != nil {
		item.Description, item.Chart, item.ChartVersion, item.AppVersion = h.Description, h.Chart, h.ChartVersion, h.AppVersion
	}
	item.Stuck = now.stuck
	if now.session != "" {
		item.Session = &now.session
	}
	return item
}

// disagreeing is the label's status if the record says otherwise.
func disagreeing(r *decoder.Revision) decoder.Status {
	if r.LabelStatus == r.Status() {
		return ""
	}
	return r.LabelStatus
}

// updated is when the revision was made, or its Secret if that is all that is known.
func updated(r *decoder.Revision) time.Time {
	if r.Header != nil && !r.Header.LastDeployed.IsZero() {
		return r.Header.LastDeployed.UTC()
	}
	return r.Created.UTC()
}

// listReleases answers from memory: one page of the cluster's releases, or of
// a namespace's.
func (s *Server) listReleases(c *gin.Context) error {
	cluster, err := s.cluster(c)
	if err != nil {
		return err
	}
	q, err := readListQuery(c)
	if err != nil {
		return err
	}
	if err := cluster.syncedIn(q.namespace); err != nil {
		return err
	}
	if q.namespace == "" {
		if q.visible, err = s.visible(c.Request.Context(), cluster, grantOf(c)); err != nil {
			return err
		}
	}
	// Callers may wait longer than their rights last, those to all namespaces too.
	asked := time.Now()
	return s.poll(c, cluster, topic{namespace: q.namespace}, "", func(ctx context.Context) (*answer, error) {
		if q.namespace == "" && time.Since(asked) >= recheckAfter {
			visible, err := s.visible(ctx, cluster, grantOf(c))
			switch {
			case err == nil:
				q.visible = visible
			case refuses(err):
				return nil, err
			}
			asked = time.Now() // What is not answered stays as it was, as in streams.
		}
		key := "" // The list is this caller's.
		if q.visible == nil {
			key = answerKey(c)
		}
		return cluster.shared(ctx, key, func(ctx context.Context) (*answer, error) { return s.readReleases(ctx, cluster, q) })
	})
}

// readReleases is the answer of a list.
func (s *Server) readReleases(ctx context.Context, cluster *watched, q listQuery) (*answer, error) {
	// The cursor is read before the list, so that a stream from it on tells
	// everything that the list does not hold yet.
	list := releaseList{Cursor: cluster.feed.position()}
	page, more := cluster.latest().page(q)
	if more {
		last := page[len(page)-1]
		list.Continue = listKey{last.Namespace, last.Name}.token()
	}

	now := make([]happening, len(page))
	tag := newTag()
	tag.add(list.Continue)
	for i, r := range page {
		var err error
		if now[i], err = s.happening(ctx, cluster.ID, r); err != nil {
			return nil, err
		}
		tag.addRevision(r, now[i])
	}
	return newAnswer(tag, func() ([]byte, error) {
		list.Items = make([]releaseItem, len(page))
		for i, r := range page {
			list.Items[i] = newReleaseItem(cluster.ID, r, now[i])
		}
		return encodeJSON(list), nil
	}), nil
}

func readListQuery(c *gin.Context) (listQuery, error) {
	q := listQuery{namespace: c.Param("namespace"), text: strings.ToLower(c.Query("q"))}
	if status := c.Query("status"); status != "" {
		q.statuses = strings.Split(status, ",")
	}
	var err error
	if q.limit, err = parseLimit(c.Query("limit")); err != nil {
		return q, err
	}
	if token := c.Query("continue"); token != "" {
		key, ok := parseToken(token)
		if !ok {
			return q, badRequest("continue", "continue must be what the page before said")
		}
		q.after = &key
	}
	return q, nil
}

// getRelease answers with the newest revision of one release, from memory.
func (s *Server) getRelease(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := cluster.syncedIn(ref.Namespace); err != nil {
		return err
	}
	err = s.poll(c, cluster, topic{ref.Namespace, ref.Name}, answerKey(c), func(ctx context.Context) (*answer, error) {
		newest := cluster.newest(ref)
		if newest == nil {
			return nil, noRelease(ref)
		}
		now, err := s.happening(ctx, ref.Cluster, newest)
		if err != nil {
			return nil, err
		}
		tag := newTag()
		tag.addRevision(newest, now)
		return newAnswer(tag, func() ([]byte, error) { return encodeJSON(newReleaseItem(ref.Cluster, newest, now)), nil }), nil
	})
	if missing, ok := errors.AsType[*apiError](err); ok && missing.status == http.StatusNotFound {
		return s.withPast(c, ref, missing)
	}
	return err
}

// newest is the release's newest revision as the watch knows it, nil for none.
func (w *watched) newest(ref stream.ReleaseRef) *decoder.Revision {
	revisions := w.Releases.Revisions(ref.Namespace, ref.Name)
	if len(revisions) == 0 {
		return nil
	}
	return slices.MaxFunc(revisions, func(a, b *decoder.Revision) int { return cmp.Compare(a.Number, b.Number) })
}

func noRelease(ref stream.ReleaseRef) *apiError {
	return &apiError{
		status: http.StatusNotFound, code: codeNotFound,
		message: "There is no release " + ref.Name + " in namespace " + ref.Namespace + ".",
	}
}

// tag gathers what an answer depends on into its ETag. It costs a small part
// of the answer itself.
type tag struct {
	hash hash.Hash
	line []byte // reused, so that a long list allocates little
}

func newTag() *tag { return &tag{hash: sha256.New()} }

func (t *tag) add(parts ...string) {
	t.line = t.line[:0]
	for _, part := range parts {
		// Neither names nor versions nor digests hold a zero byte.
		t.line = append(append(t.line, part...), 0)
	}
	t.hash.Write(t.line)
}

// addRevision adds a revision: its Secret's version stands for all that Helm
// wrote, and the digest tells whether it has been read yet.
func (t *tag) addRevision(r *decoder.Revision, now happening) {
	stuck := ""
	if now.stuck != nil {
		stuck = "stuck " + now.stuck.By
	}
	t.add(r.Namespace, r.Name, r.Secret.Name, r.Secret.UID, r.Secret.ResourceVersion, r.Digest, r.Problem, now.session, stuck)
}

// etag is what was gathered, as an ETag.
func (t *tag) etag() string {
	return `"` + base64.RawURLEncoding.EncodeToString(t.hash.Sum(nil)[:18]) + `"`
}

// matched sets the answer's ETag, and answers 304 if the client has it already.
func (t *tag) matched(c *gin.Context) bool {
	etag := t.etag()
	if matches(c.GetHeader("If-None-Match"), etag) {
		notModified(c, etag)
		return true
	}
	c.Header("ETag", etag)
	return false
}

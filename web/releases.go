package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

// releaseItem is a release, in a list or alone.
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
	// Stuck is null unless the release was left pending.
	Stuck *stream.Stuck `json:"stuck"`
	// Session is the release's running session, or null.
	Session *string `json:"session"`
}

type releaseList struct {
	Items    []releaseItem `json:"items"`
	Continue string        `json:"continue,omitempty"`
	Cursor   string        `json:"cursor"`
}

// activity is what currently happens to a release.
type activity struct {
	session string // the running or observed session, "" for none
	stuck   *stream.Stuck
}

func (s *Server) activity(ctx context.Context, cluster string, r *decoder.Revision) (activity, error) {
	ref := helmtrail.ReleaseRef{Cluster: cluster, Namespace: r.Namespace, Name: r.Name}
	var now activity
	now.session, _ = s.options.Operations.Active(ref)
	var err error
	now.stuck, err = s.options.Operations.Stuck(ctx, ref, r)
	return now, err
}

// tag returns what the ETag of a release depends on besides its revision.
func (a activity) tag() (session, stuck string) {
	if a.stuck != nil {
		stuck = "stuck " + a.stuck.By
	}
	return a.session, stuck
}

// newReleaseItem returns a release whose newest revision is r.
func newReleaseItem(cluster string, r *decoder.Revision, now activity) releaseItem {
	item := releaseItem{
		Cluster: cluster, Namespace: r.Namespace, Name: r.Name, Revision: r.Number,
		Status: r.Status(), LabelStatus: clusters.LabelStatus(r), Updated: clusters.Updated(r), Problem: r.Problem,
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

// listReleases answers from memory with one page of the releases of a cluster or
// namespace.
func (s *Server) listReleases(c *gin.Context) error {
	cluster, err := s.cluster(c)
	if err != nil {
		return err
	}
	caller := authz.CallerOf(c)
	q, err := readListQuery(c)
	if err != nil {
		return err
	}
	if err := cluster.CheckSyncedIn(q.Namespace); err != nil {
		return err
	}
	if q.Namespace == "" {
		if q.Visible, err = caller.Visible(c.Request.Context()); err != nil {
			return err
		}
	}
	// The request may outlast the caller's permissions, even that for all namespaces.
	asked := time.Now()
	return cluster.Poll(c, polling.Poll{About: polling.Topic{Namespace: q.Namespace}, Read: func(ctx context.Context) (*polling.Answer, error) {
		if q.Namespace == "" && time.Since(asked) >= authz.RecheckAfter {
			visible, err := caller.Visible(ctx)
			switch {
			case err == nil:
				q.Visible = visible
			case authz.Refuses(err):
				return nil, err
			}
			asked = time.Now() // If the API server does not answer, the list stays as it is, as in streams.
		}
		key := "" // The list depends on the caller.
		if q.Visible == nil {
			key = polling.Key(c)
		}
		return cluster.Shared(ctx, key, func(ctx context.Context) (*polling.Answer, error) { return s.readReleases(ctx, cluster, q) })
	}})
}

// readReleases returns the answer of a list.
func (s *Server) readReleases(ctx context.Context, cluster *served, q clusters.Query) (*polling.Answer, error) {
	// Read the cursor before the list: a stream from the cursor then has
	// everything that the list does not include.
	list := releaseList{Cursor: cluster.Feed.Position()}
	page, more := cluster.Latest().Page(q)
	if more {
		last := page[len(page)-1]
		list.Continue = clusters.Key{Namespace: last.Namespace, Name: last.Name}.Token()
	}

	now := make([]activity, len(page))
	tag := httpapi.NewTag()
	tag.Add(list.Continue)
	for i, r := range page {
		var err error
		if now[i], err = s.activity(ctx, cluster.ID, r); err != nil {
			return nil, err
		}
		session, stuck := now[i].tag()
		tag.AddRevision(r, session, stuck)
	}
	return polling.NewAnswer(tag, func() ([]byte, error) {
		list.Items = make([]releaseItem, len(page))
		for i, r := range page {
			list.Items[i] = newReleaseItem(cluster.ID, r, now[i])
		}
		return httpapi.EncodeJSON(list), nil
	}), nil
}

func readListQuery(c *gin.Context) (clusters.Query, error) {
	q := clusters.Query{Namespace: c.Param("namespace"), Text: strings.ToLower(c.Query("q"))}
	if status := c.Query("status"); status != "" {
		q.Statuses = strings.Split(status, ",")
	}
	var err error
	if q.Limit, err = httpapi.Limit(c); err != nil {
		return q, err
	}
	if token := c.Query("continue"); token != "" {
		key, ok := clusters.ParseToken(token)
		if !ok {
			return q, httpapi.BadContinue()
		}
		q.After = &key
	}
	return q, nil
}

// getRelease answers with the newest revision of one release, from memory.
func (s *Server) getRelease(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	if err := cluster.CheckSyncedIn(ref.Namespace); err != nil {
		return err
	}
	err = cluster.Poll(c, polling.Poll{
		About: polling.Topic{Namespace: ref.Namespace, Name: ref.Name}, Key: polling.Key(c),
		Read: func(ctx context.Context) (*polling.Answer, error) { return s.readRelease(ctx, cluster, ref) },
	})
	if missing, ok := errors.AsType[*httpapi.Error](err); ok && missing.Status == http.StatusNotFound {
		return s.history.WithPast(c.Request.Context(), authz.CallerOf(c), ref, s.options.BasePath+releaseURL(ref), missing)
	}
	return err
}

// readRelease returns the answer about one release.
func (s *Server) readRelease(ctx context.Context, cluster *served, ref helmtrail.ReleaseRef) (*polling.Answer, error) {
	newest := cluster.Newest(ref)
	if newest == nil {
		return nil, httpapi.NoRelease(ref)
	}
	now, err := s.activity(ctx, ref.Cluster, newest)
	if err != nil {
		return nil, err
	}
	session, stuck := now.tag()
	tag := httpapi.NewTag()
	tag.AddRevision(newest, session, stuck)
	return polling.NewAnswer(tag, func() ([]byte, error) { return httpapi.EncodeJSON(newReleaseItem(ref.Cluster, newest, now)), nil }), nil
}

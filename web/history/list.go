package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/ownership"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

// Item is one revision as the history shows it.
type Item struct {
	Revision         int               `json:"revision"`
	Status           decoder.Status    `json:"status"`
	LabelStatus      decoder.Status    `json:"labelStatus,omitempty"`
	Description      string            `json:"description"`
	Chart            string            `json:"chart"`
	ChartVersion     string            `json:"chartVersion"`
	AppVersion       string            `json:"appVersion"`
	Updated          time.Time         `json:"updated"`
	ApplyMethod      string            `json:"applyMethod,omitempty"`
	RollbackRevision int               `json:"rollbackRevision,omitempty"`
	Session          *string           `json:"session"`
	User             string            `json:"user,omitempty"`
	Size             int               `json:"size"`
	Digest           string            `json:"digest,omitempty"`
	Secret           decoder.SecretRef `json:"secret"`
	// Live marks the highest deployed revision, which is the one in effect.
	Live bool `json:"live"`
	// Lineage is the revision's lineage, "" if it is unknown.
	Lineage string `json:"lineage,omitempty"`
	// Gone is the reason why the revision is no longer in the cluster, or null.
	Gone *decoder.Change `json:"gone"`
	// Erased means that retention removed its record.
	Erased    bool              `json:"erased,omitempty"`
	Problem   string            `json:"problem,omitempty"`
	Anomalies []decoder.Anomaly `json:"anomalies"`
}

// List is one page of a release's history.
type List struct {
	Items []Item `json:"items"`
	// Lineages are all known lineages of the release, newest first.
	Lineages []Lineage `json:"lineages"`
	Continue string    `json:"continue,omitempty"`
}

// listQuery is a client's query.
type listQuery struct {
	release helmtrail.ReleaseRef
	// lineage selects one lineage. Without it, the list has the revisions in the
	// cluster and all others of the same lineages.
	lineage string
	// former means that the caller may see former lineages.
	former bool
	limit  int
	after  string
}

// List answers with one page of a release's revisions, newest first. It includes
// revisions of every status, those that cannot be decoded, and those that are no
// longer in the cluster.
func (s *Server) List(c *gin.Context) error {
	ref, cluster, err := s.release(c)
	if err != nil {
		return err
	}
	ctx, caller := c.Request.Context(), authz.CallerOf(c)
	q := listQuery{release: ref, lineage: c.Query("lineage"), after: c.Query("continue")}
	if q.limit, err = httpapi.Limit(c); err != nil {
		return err
	}
	if q.former, err = s.SeesFormer(ctx, caller, ref); err != nil {
		return err
	}
	if q.lineage != "" {
		if _, err := s.lineage(ctx, caller, ref, q.lineage); err != nil {
			return err
		}
	}
	return cluster.Poll(c, polling.Poll{
		About: polling.Topic{Namespace: ref.Namespace, Name: ref.Name}, Key: Key(c, q.former),
		Read: func(ctx context.Context) (*polling.Answer, error) { return s.readList(ctx, cluster, q) },
	})
}

func (s *Server) readList(ctx context.Context, cluster Cluster, q listQuery) (*polling.Answer, error) {
	lineages := s.lineages(q.release, q.former)
	known, err := gather(cluster, q.release, lineages, q.lineage)
	if err != nil {
		return nil, err
	}
	page := known.all
	if len(page) == 0 {
		return nil, httpapi.NoRelease(q.release)
	}
	if q.after != "" {
		number, secret, _ := strings.Cut(q.after, "/")
		last := &decoder.Revision{Secret: decoder.SecretRef{Name: secret}}
		if last.Number, err = revisionNumber("continue", number); err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(slices.Clone(page), func(r *decoder.Revision) bool { return newestFirst(r, last) <= 0 })
	}
	list := List{Lineages: newLineages(lineages)}
	if len(page) > q.limit {
		page = page[:q.limit]
		last := page[q.limit-1]
		list.Continue = fmt.Sprintf("%d/%s", last.Number, last.Secret.Name)
	}
	if err := s.readFacts(ctx, cluster, q.release, known, page); err != nil {
		return nil, cluster.Explain(err)
	}
	sessions, err := s.VisibleSessions(ctx, q.release, q.former)
	if err != nil {
		return nil, err
	}
	list.Items = make([]Item, len(page))
	for i, r := range page {
		item := known.item(r)
		header := known.facts[r].header
		if kept := known.kept[r]; kept.Session != "" {
			item.Session, item.User = &kept.Session, kept.User
		} else if session := ownership.MadeBy(r, &header, sessions); session != nil {
			item.Session, item.User = &session.ID, session.User
		}
		list.Items[i] = item
	}
	return polling.JSON(list), nil
}

// item returns a revision for the history. Its facts must have been read.
func (k *revisions) item(r *decoder.Revision) Item {
	f := k.facts[r]
	item := Item{
		Revision: r.Number, Status: k.status(r), Updated: clusters.Updated(r), Secret: r.Secret,
		ApplyMethod: f.applyMethod, RollbackRevision: f.rollbackRevision, Size: f.size, Digest: f.digest,
		Live: r == k.live(), Problem: cmp.Or(f.problem, r.Problem), Lineage: k.kept[r].lineage.ID,
	}
	if gone, ok := k.gone[r]; ok {
		item.Gone, item.Erased = &gone, k.kept[r].Erased
	}
	if r.LabelStatus != item.Status {
		item.LabelStatus = r.LabelStatus
	}
	if f.problem == "" {
		item.Description, item.Chart, item.ChartVersion, item.AppVersion = f.header.Description, f.header.Chart, f.header.ChartVersion, f.header.AppVersion
		if !f.header.LastDeployed.IsZero() {
			item.Updated = f.header.LastDeployed.UTC()
		}
	}
	item.Anomalies = k.anomalies(item, r, f)
	return item
}

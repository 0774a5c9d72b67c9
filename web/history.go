package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// historyItem is one revision as the history shows it.
type historyItem struct {
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
	// Live marks the deployed revision that counts: the highest.
	Live bool `json:"live"`
	// Lineage is the life to which the revision belongs, "" as long as that is
	// not known.
	Lineage string `json:"lineage,omitempty"`
	// Gone says why the revision is no longer in the cluster; null while it is.
	Gone *decoder.Change `json:"gone"`
	// Erased means that retention removed its record.
	Erased    bool              `json:"erased,omitempty"`
	Problem   string            `json:"problem,omitempty"`
	Anomalies []decoder.Anomaly `json:"anomalies"`
}

type historyList struct {
	Items []historyItem `json:"items"`
	// Lineages are all lives of the release that are known, newest first.
	Lineages []lineageItem `json:"lineages"`
	Continue string        `json:"continue,omitempty"`
}

// historyQuery is what a history was asked for.
type historyQuery struct {
	release stream.ReleaseRef
	// lineage is a life; without it, what the cluster holds is shown with all
	// that is known of the same lives.
	lineage string
	// former means that the caller may know of lives in a former namespace.
	former bool
	limit  int
	after  string
}

// getHistory answers with one page of a release's revisions, newest first. All
// revisions are there, whatever their status: those that cannot be decoded, and
// those that are no longer in the cluster.
func (s *Server) getHistory(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	q := historyQuery{release: ref, lineage: c.Query("lineage"), after: c.Query("continue")}
	if q.limit, err = parseLimit(c.Query("limit")); err != nil {
		return err
	}
	if q.former, err = s.seesFormer(c, ref); err != nil {
		return err
	}
	if q.lineage != "" {
		if _, err := s.life(c, ref, q.lineage); err != nil {
			return err
		}
	}
	return s.poll(c, cluster, topic{ref.Namespace, ref.Name}, formerKey(c, q.former), func(ctx context.Context) (*answer, error) {
		return s.readHistory(ctx, cluster, q)
	})
}

func (s *Server) readHistory(ctx context.Context, cluster *watched, q historyQuery) (*answer, error) {
	lives := s.livesOf(q.release, q.former)
	h, err := cluster.history(q.release, lives, q.lineage)
	if err != nil {
		return nil, err
	}
	page := h.revisions
	if len(page) == 0 {
		return nil, noRelease(q.release)
	}
	if q.after != "" {
		number, secret, _ := strings.Cut(q.after, "/")
		last := &decoder.Revision{Secret: decoder.SecretRef{Name: secret}}
		if last.Number, err = revisionNumber("continue", number); err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(slices.Clone(page), func(r *decoder.Revision) bool { return newestFirst(r, last) <= 0 })
	}
	list := historyList{Lineages: lineageItems(lives)}
	if len(page) > q.limit {
		page = page[:q.limit]
		last := page[q.limit-1]
		list.Continue = fmt.Sprintf("%d/%s", last.Number, last.Secret.Name)
	}
	if err := s.learn(ctx, cluster, q.release, h, page); err != nil {
		return nil, cluster.asked(err)
	}
	sessions, err := s.sessions(ctx, q.release, q.former)
	if err != nil {
		return nil, err
	}
	list.Items = make([]historyItem, len(page))
	for i, r := range page {
		item := h.item(r)
		header := h.facts[r].header
		if kept := h.kept[r]; kept.Session != "" {
			item.Session, item.User = &kept.Session, kept.User
		} else if session := stream.MadeBy(r, &header, sessions); session != nil {
			item.Session, item.User = &session.ID, session.User
		}
		list.Items[i] = item
	}
	return jsonAnswer(list), nil
}

// revisions are all revisions of a release that are in the cluster, newest
// first. It fails as long as they are not known.
func (w *watched) revisions(ref stream.ReleaseRef) ([]*decoder.Revision, error) {
	revisions := slices.Clone(w.Releases.Revisions(ref.Namespace, ref.Name))
	if len(revisions) == 0 {
		return nil, w.syncedIn(ref.Namespace)
	}
	slices.SortFunc(revisions, newestFirst)
	return revisions, nil
}

// newestFirst sorts revisions.
func newestFirst(a, b *decoder.Revision) int {
	return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Secret.Name, b.Secret.Name))
}

// history is what is known of a release's revisions, newest first.
type history struct {
	revisions []*decoder.Revision
	// kept is what the trail knows of a revision, if it does.
	kept map[*decoder.Revision]keptRevision
	// gone says why a revision is no longer in the cluster, of those that are not.
	gone map[*decoder.Revision]decoder.Change
	// facts are those of the revisions that are shown.
	facts map[*decoder.Revision]facts
}

// history gathers what is known of a release's revisions: without a lineage all
// that are in the cluster and what else the trail knows of the same lives, else
// those of that life alone.
func (w *watched) history(ref stream.ReleaseRef, lives []stream.Lineage, lineage string) (*history, error) {
	h := &history{kept: map[*decoder.Revision]keptRevision{}, gone: map[*decoder.Revision]decoder.Change{}, facts: map[*decoder.Revision]facts{}}
	live, err := w.revisions(ref)
	if err != nil {
		return nil, err
	}
	shown := present(lives, len(live) > 0)
	if lineage != "" {
		shown = slices.DeleteFunc(slices.Clone(lives), func(l stream.Lineage) bool { return l.ID != lineage })
	}
	here := map[int]bool{}
	for _, r := range live {
		kept, known := keptIn(shown, r.Number)
		known = known && kept.Secret.UID == r.Secret.UID
		if known {
			h.kept[r] = kept
		}
		if known || lineage == "" {
			h.revisions, here[r.Number] = append(h.revisions, r), true
		}
	}
	for _, life := range shown {
		for _, kept := range life.Revisions {
			if here[kept.Number] {
				continue
			}
			here[kept.Number] = true
			r := &decoder.Revision{
				Namespace: ref.Namespace, Name: ref.Name, Number: kept.Number, Secret: kept.Secret, Created: kept.Created,
				LabelStatus: kept.Status, Digest: kept.Digest, Size: kept.Size,
			}
			h.revisions, h.kept[r] = append(h.revisions, r), keptRevision{life, kept}
			// The trail may be yet to tell of a deletion.
			h.gone[r] = cmp.Or(kept.Gone, decoder.Deleted(r, live).Change)
		}
	}
	slices.SortFunc(h.revisions, newestFirst)
	return h, nil
}

// status is what the record says, or the label as long as the record is
// unread. Of what is gone it is the last that was seen.
func (h *history) status(r *decoder.Revision) decoder.Status {
	_, gone := h.gone[r]
	if f, ok := h.facts[r]; ok && f.problem == "" && !(gone && r.LabelStatus != "") {
		return f.header.Status
	}
	return r.Status()
}

// live is the deployed revision that counts, the highest; nil if none is.
func (h *history) live() *decoder.Revision {
	for _, r := range h.revisions {
		if _, gone := h.gone[r]; !gone && h.status(r) == decoder.StatusDeployed {
			return r
		}
	}
	return nil
}

func (h *history) item(r *decoder.Revision) historyItem {
	f := h.facts[r]
	item := historyItem{
		Revision: r.Number, Status: h.status(r), Updated: updated(r), Secret: r.Secret,
		ApplyMethod: f.applyMethod, RollbackRevision: f.rollbackRevision, Size: f.size, Digest: f.digest,
		Live: r == h.live(), Problem: cmp.Or(f.problem, r.Problem), Lineage: h.kept[r].lineage.ID,
	}
	if gone, ok := h.gone[r]; ok {
		item.Gone, item.Erased = &gone, h.kept[r].Erased
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
	item.Anomalies = h.anomalies(item, r, f)
	return item
}

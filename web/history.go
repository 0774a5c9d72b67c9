package web

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
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
	Live      bool      `json:"live"`
	Problem   string    `json:"problem,omitempty"`
	Anomalies []anomaly `json:"anomalies"`
}

type historyList struct {
	Items    []historyItem `json:"items"`
	Continue string        `json:"continue,omitempty"`
}

// recordsAtOnce is how many records a history reads at the same time.
const recordsAtOnce = 8

// getHistory answers with one page of a release's revisions, newest first. All
// revisions are there, whatever their status, those that cannot be decoded too.
func (s *Server) getHistory(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	limit, err := parseLimit(c.Query("limit"))
	if err != nil {
		return err
	}
	return s.poll(c, cluster, topic{ref.Namespace, ref.Name}, answerKey(c), func(ctx context.Context) (*answer, error) {
		return s.readHistory(ctx, cluster, ref, limit, c.Query("continue"))
	})
}

func (s *Server) readHistory(ctx context.Context, cluster *watched, ref stream.ReleaseRef, limit int, after string) (*answer, error) {
	revisions, err := cluster.revisions(ref)
	if err != nil {
		return nil, err
	}
	page := revisions
	if after != "" {
		number, err := revisionNumber("continue", after)
		if err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(slices.Clone(page), func(r *decoder.Revision) bool { return r.Number >= number })
	}
	var list historyList
	if len(page) > limit {
		page = page[:limit]
		list.Continue = strconv.Itoa(page[limit-1].Number)
	}
	known, err := s.factsOf(ctx, cluster, ref, page)
	if err != nil {
		return nil, cluster.asked(err)
	}
	sessions, err := s.options.Operations.Sessions(ctx, ref)
	if err != nil {
		return nil, err
	}
	list.Items = make([]historyItem, len(page))
	h := history{revisions: revisions, facts: map[*decoder.Revision]facts{}}
	for i, r := range page {
		h.facts[r] = known[i]
	}
	for i, r := range page {
		list.Items[i] = h.item(r)
		if session := stream.MadeBy(r, &known[i].header, sessions); session != nil {
			list.Items[i].Session, list.Items[i].User = &session.ID, session.User
		}
	}
	return jsonAnswer(list), nil
}

// revisions are all revisions of a release that are in the cluster, newest
// first. It fails if there are none, or if that is not known yet.
func (w *watched) revisions(ref stream.ReleaseRef) ([]*decoder.Revision, error) {
	revisions := slices.Clone(w.Releases.Revisions(ref.Namespace, ref.Name))
	if len(revisions) == 0 {
		if err := w.syncedIn(ref.Namespace); err != nil {
			return nil, err
		}
		return nil, noRelease(ref)
	}
	slices.SortFunc(revisions, func(a, b *decoder.Revision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Secret.Name, b.Secret.Name))
	})
	return revisions, nil
}

// factsOf reads what the history needs of the records, those that it has not
// seen yet from the API server.
func (s *Server) factsOf(ctx context.Context, cluster *watched, ref stream.ReleaseRef, revisions []*decoder.Revision) ([]facts, error) {
	known := make([]facts, len(revisions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(recordsAtOnce)
	for i, r := range revisions {
		key := factsKey{cluster.ID, r.Secret.UID, r.Secret.ResourceVersion}
		var ok bool
		if known[i], ok = s.facts.get(key); ok {
			continue
		}
		group.Go(func() error {
			var err error
			if known[i], err = s.readFacts(ctx, cluster, ref, r); err == nil {
				s.facts.put(key, known[i])
			}
			return err
		})
	}
	return known, group.Wait()
}

func (s *Server) readFacts(ctx context.Context, cluster *watched, ref stream.ReleaseRef, r *decoder.Revision) (facts, error) {
	record, err := cluster.Objects.Record(ctx, ref.Namespace, ref.Name, r.Number)
	switch {
	case errors.Is(err, stream.ErrNotFound):
		// It is being deleted; the watch will say so.
		return facts{problem: "The record has just been deleted."}, nil
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return facts{digest: r.Digest, size: r.Size, problem: err.Error()}, nil
	case err != nil:
		return facts{}, err
	}
	f := facts{
		header: record.Header, applyMethod: methodName(record.ApplyMethod), digest: record.Digest, size: record.Size,
		recordName: record.Name, recordNamespace: record.Namespace, recordRevision: record.Version, rollbackRevision: record.Header.RollbackTarget(),
	}
	// Helm's own words need no look at the secrets.
	if !plainDescription.MatchString(record.Description) {
		f.header.Description = s.masker(ref).Collect(mask.FromRecord(record)).Text(record.Description)
	}
	return f, nil
}

var plainDescription = regexp.MustCompile(`^(Install complete|Upgrade complete|Initial install underway|Preparing upgrade|Rollback to \d+|Uninstallation complete|Deletion in progress.*)?$`)

// methodName is how a revision's objects were applied. Helm 3 tells nothing,
// since it knows one way only; words of the future stay as they are.
func methodName(method string) string {
	switch method {
	case "", "csa":
		return "client-side"
	case "ssa":
		return "server-side"
	}
	return method
}

// history is what is known of a release's revisions, newest first.
type history struct {
	revisions []*decoder.Revision
	// facts are those of the revisions that are shown.
	facts map[*decoder.Revision]facts
}

// status is what the record says, or the label as long as the record is
// unread.
func (h *history) status(r *decoder.Revision) decoder.Status {
	if f, ok := h.facts[r]; ok && f.problem == "" {
		return f.header.Status
	}
	return r.Status()
}

// live is the deployed revision that counts, the highest; nil if none is.
func (h *history) live() *decoder.Revision {
	for _, r := range h.revisions {
		if h.status(r) == decoder.StatusDeployed {
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
		Live: r == h.live(), Problem: cmp.Or(f.problem, r.Problem),
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

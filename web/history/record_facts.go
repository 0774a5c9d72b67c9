package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
)

const (
	// recordsAtOnce is the number of records that one answer reads concurrently.
	recordsAtOnce = 8
	// maxFacts is the number of cached states of Secrets, of some 500 bytes each.
	// A state never changes, so entries do not expire.
	maxFacts = 20_000
)

// recordFacts has the fields of a record that the history shows.
type recordFacts struct {
	header           decoder.Header // Its description is masked.
	applyMethod      string
	digest           string
	size             int
	rollbackRevision int
	disagreements    []decoder.Anomaly
	problem          string
	// temporary means that a later read may have another result.
	temporary bool
}

// readFacts reads the facts of some revisions: from the cache, the API server,
// or the trail.
func (s *Server) readFacts(ctx context.Context, cluster Cluster, ref helmtrail.ReleaseRef, k *revisions, shown []*decoder.Revision) error {
	read := make([]recordFacts, len(shown))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(recordsAtOnce)
	for i, r := range shown {
		_, gone := k.gone[r]
		key := strings.Join([]string{cluster.ID, r.Secret.UID, r.Secret.ResourceVersion}, "\x00")
		if gone {
			// The trail stores equal bytes once, for any number of revisions.
			key = strings.Join([]string{cluster.ID, fmt.Sprintf("%s/%s/%d", ref.Namespace, ref.Name, r.Number), r.Digest}, "\x00")
		}
		var ok bool
		if read[i], ok = s.facts.Get(key); ok && !k.kept[r].Erased {
			continue
		}
		group.Go(func() error {
			ctx, end := s.Budget.Begin(ctx)
			defer end()
			var err error
			if gone {
				read[i], err = s.trailFacts(ctx, ref, r, k.kept[r].Revision)
			} else {
				read[i], err = s.clusterFacts(ctx, cluster, ref, r)
			}
			if err != nil {
				return err
			}
			if !read[i].temporary {
				s.facts.Add(key, read[i])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, r := range shown {
		k.facts[r] = read[i]
	}
	return nil
}

// trailFacts returns the facts of a record in the trail.
func (s *Server) trailFacts(ctx context.Context, ref helmtrail.ReleaseRef, r *decoder.Revision, kept audit.Revision) (recordFacts, error) {
	record, err := s.keptRecord(ctx, ref, kept)
	if err == nil {
		return s.factsOf(ctx, ref, r, record)
	}
	if errors.Is(err, budget.ErrBusy) || ctx.Err() != nil {
		return recordFacts{}, err
	}
	f := recordFacts{digest: kept.Digest, size: kept.Size, problem: err.Error(), temporary: true}
	switch {
	case errors.Is(err, helmtrail.ErrErased):
		f.problem = "Retention removed the record."
	case errors.Is(err, helmtrail.ErrNotFound):
		f.problem = "The record was not read before it was overwritten or deleted."
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		f.temporary = false
	}
	return f, nil
}

// clusterFacts returns the facts of a record in the cluster.
func (s *Server) clusterFacts(ctx context.Context, cluster Cluster, ref helmtrail.ReleaseRef, r *decoder.Revision) (recordFacts, error) {
	record, err := cluster.Records.Record(ctx, ref.Namespace, ref.Name, r.Number)
	switch {
	case errors.Is(err, helmtrail.ErrNotFound):
		// The Secret is being deleted, which the watch will soon report.
		return recordFacts{problem: "The record has just been deleted.", temporary: true}, nil
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return recordFacts{digest: r.Digest, size: r.Size, problem: err.Error()}, nil
	case err != nil:
		return recordFacts{}, err
	}
	return s.factsOf(ctx, ref, r, record)
}

// factsOf returns the facts of a revision's record. It fails when ctx ends.
func (s *Server) factsOf(ctx context.Context, ref helmtrail.ReleaseRef, r *decoder.Revision, record *decoder.Record) (recordFacts, error) {
	f := recordFacts{
		header: record.Header, applyMethod: applyMethod(record.ApplyMethod), digest: record.Digest, size: record.Size,
		rollbackRevision: record.Header.RollbackTarget(), disagreements: decoder.Disagreements(r, record),
	}
	f.header.Description = s.Masker(ref).Within(ctx).Description(record)
	return f, ctx.Err()
}

// applyMethod returns the name of the method with which a revision was applied.
// Helm 3 has only one and does not record it. Unknown methods are returned
// unchanged.
func applyMethod(method string) string {
	switch method {
	case "", "csa":
		return "client-side"
	case "ssa":
		return "server-side"
	}
	return method
}

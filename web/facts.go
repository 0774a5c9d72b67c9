package web

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// recordsAtOnce is how many records a history reads at the same time.
const recordsAtOnce = 8

// learn reads what the history needs of the records of some revisions: those
// that it has not seen yet from the API server, or from the trail.
func (s *Server) learn(ctx context.Context, cluster *watched, ref stream.ReleaseRef, h *history, revisions []*decoder.Revision) error {
	known := make([]facts, len(revisions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(recordsAtOnce)
	for i, r := range revisions {
		_, gone := h.gone[r]
		key := factsKey{cluster.ID, r.Secret.UID, r.Secret.ResourceVersion}
		if gone {
			// Bytes are kept once, however many revisions hold them.
			key = factsKey{cluster.ID, fmt.Sprintf("%s/%s/%d", ref.Namespace, ref.Name, r.Number), r.Digest}
		}
		var ok bool
		if known[i], ok = s.facts.get(key); ok && !h.kept[r].Erased {
			continue
		}
		group.Go(func() error {
			if gone {
				known[i] = s.keptFacts(ctx, ref, r, h.kept[r].TrailRevision)
			} else {
				var err error
				if known[i], err = s.readFacts(ctx, cluster, ref, r); err != nil {
					return err
				}
			}
			if !known[i].passing {
				s.facts.put(key, known[i])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, r := range revisions {
		h.facts[r] = known[i]
	}
	return nil
}

// keptFacts are the facts of a record that the trail has kept.
func (s *Server) keptFacts(ctx context.Context, ref stream.ReleaseRef, r *decoder.Revision, kept stream.TrailRevision) facts {
	record, err := s.keptRecord(ctx, ref, kept)
	if err == nil {
		return s.factsOf(ref, r, record)
	}
	f := facts{digest: kept.Digest, size: kept.Size, problem: err.Error(), passing: true}
	switch {
	case errors.Is(err, stream.ErrErased):
		f.problem = "Retention removed the record."
	case errors.Is(err, stream.ErrNotFound):
		f.problem = "The record was not read before it was overwritten or deleted."
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		f.passing = false
	}
	return f
}

func (s *Server) readFacts(ctx context.Context, cluster *watched, ref stream.ReleaseRef, r *decoder.Revision) (facts, error) {
	record, err := cluster.Objects.Record(ctx, ref.Namespace, ref.Name, r.Number)
	switch {
	case errors.Is(err, stream.ErrNotFound):
		// It is being deleted; the watch will say so.
		return facts{problem: "The record has just been deleted.", passing: true}, nil
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return facts{digest: r.Digest, size: r.Size, problem: err.Error()}, nil
	case err != nil:
		return facts{}, err
	}
	return s.factsOf(ref, r, record), nil
}

// factsOf are the facts of a revision's record.
func (s *Server) factsOf(ref stream.ReleaseRef, r *decoder.Revision, record *decoder.Record) facts {
	f := facts{
		header: record.Header, applyMethod: methodName(record.ApplyMethod), digest: record.Digest, size: record.Size,
		rollbackRevision: record.Header.RollbackTarget(), disagreements: decoder.Disagreements(r, record),
	}
	f.header.Description = s.masker(ref).Description(record)
	return f
}

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

// factsKey names one state of one release Secret.
type factsKey struct{ cluster, uid, resourceVersion string }

// facts is what the history shows of a record besides its header.
type facts struct {
	header           decoder.Header // Its description is masked.
	applyMethod      string
	digest           string
	size             int
	rollbackRevision int
	disagreements    []decoder.Anomaly
	problem          string
	// passing means that the same may be answered otherwise later.
	passing bool
}

// maxFacts bounds how many states are remembered, of some 500 bytes each.
const maxFacts = 20_000

// factsCache remembers facts. A state never changes, so nothing expires; when
// it is full it starts anew.
type factsCache struct {
	mu    sync.Mutex
	facts map[factsKey]facts
}

func (f *factsCache) get(key factsKey) (facts, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.facts[key]
	return known, ok
}

func (f *factsCache) put(key factsKey, known facts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.facts == nil || len(f.facts) >= maxFacts {
		f.facts = map[factsKey]facts{}
	}
	f.facts[key] = known
}

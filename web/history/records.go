package history

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// RevisionRef names one revision.
type RevisionRef struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Lineage is a lineage of the release, "" for the current one.
	Lineage string `json:"lineage,omitempty"`
	// Revision is 0 for the result of a session's dry run.
	Revision int    `json:"revision"`
	Session  string `json:"session,omitempty"`
}

// revisionOf names a revision of the current lineage of a release.
func revisionOf(ref helmtrail.ReleaseRef, number int) RevisionRef {
	return RevisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Revision: number}
}

func (r RevisionRef) release() helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: r.Cluster, Namespace: r.Namespace, Name: r.Name}
}

// reveal returns the entry that records the reveal of a revision's secrets.
func (r RevisionRef) reveal(what string) audit.Reveal {
	return audit.Reveal{Release: r.release(), Lineage: r.Lineage, Revision: r.Revision, What: what}
}

// record fetches one revision in full: from the cluster, or from the trail if the
// cluster no longer has it. There are different errors for a record that cannot
// be read, one that retention removed and one that does not exist.
func (s *Server) record(ctx context.Context, caller *authz.Caller, at RevisionRef) (*decoder.Record, error) {
	if at.Lineage == "" {
		record, err := s.clusterRecord(ctx, at)
		if !errors.Is(err, helmtrail.ErrNotFound) {
			return record, err
		}
		lineages, err := s.lineagesFor(ctx, caller, at.release())
		if err != nil {
			return nil, err
		}
		cluster, err := s.Cluster(at.Cluster)
		if err != nil {
			return nil, err
		}
		inCluster := len(cluster.Releases.Revisions(at.Namespace, at.Name)) > 0
		if kept, ok := keptIn(current(lineages, inCluster), at.Revision); ok {
			return s.trailRecord(ctx, at, kept)
		}
		return nil, noRevision(at)
	}
	lineage, err := s.lineage(ctx, caller, at.release(), at.Lineage)
	if err != nil {
		return nil, err
	}
	kept, ok := keptIn([]audit.Lineage{lineage}, at.Revision)
	if !ok {
		return nil, noRevision(at)
	}
	if kept.Gone == "" {
		// The release may have a new lineage that the trail has not seen yet.
		record, err := s.clusterRecord(ctx, at)
		if err != nil && !errors.Is(err, helmtrail.ErrNotFound) || err == nil && record.FirstDeployed.Equal(lineage.FirstDeployed) {
			return record, err
		}
	}
	return s.trailRecord(ctx, at, kept)
}

// clusterRecord fetches a revision from the cluster. It fails with
// helmtrail.ErrNotFound if the cluster does not have it.
func (s *Server) clusterRecord(ctx context.Context, at RevisionRef) (*decoder.Record, error) {
	cluster, err := s.Cluster(at.Cluster)
	if err != nil {
		return nil, err
	}
	record, err := cluster.Records.Record(ctx, at.Namespace, at.Name, at.Revision)
	switch {
	case err == nil || errors.Is(err, helmtrail.ErrNotFound):
		return record, err
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return nil, unreadable(at, err)
	}
	return nil, cluster.Explain(err)
}

// trailRecord returns a record in the trail.
func (s *Server) trailRecord(ctx context.Context, at RevisionRef, kept keptRevision) (*decoder.Record, error) {
	record, err := s.keptRecord(ctx, at.release(), kept.Revision)
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, helmtrail.ErrErased):
		return nil, gone(at, "was removed by retention")
	case errors.Is(err, helmtrail.ErrNotFound):
		return nil, gone(at, "was not read before it was overwritten or deleted")
	case errors.Is(err, helmtrail.ErrAltered) || errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return nil, unreadable(at, err)
	}
	return nil, err
}

// keptRecord reads a record in the trail. It is shared and must not be changed.
func (s *Server) keptRecord(ctx context.Context, ref helmtrail.ReleaseRef, kept audit.Revision) (*decoder.Record, error) {
	switch {
	case kept.Erased:
		return nil, helmtrail.ErrErased
	case kept.Digest == "":
		return nil, helmtrail.ErrNotFound
	}
	key := recordKey(ref, kept.Digest)
	if known, ok := s.kept.Get(key); ok {
		return known, budget.TakeFor(ctx, known)
	}
	leave, err := s.reads.Enter(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.Trail.Record(ctx, kept.Digest)
	leave()
	if err != nil {
		return nil, err
	}
	record, err := budget.Decode(ctx, data)
	if err != nil {
		return nil, err
	}
	record.SecretNamespace, record.Digest, record.Size = ref.Namespace, kept.Digest, len(data)
	s.kept.Add(key, record)
	return record, nil
}

func noRevision(at RevisionRef) error {
	return httpapi.NotFound(fmt.Sprintf("There is no revision %d of release %s in namespace %s.", at.Revision, at.Name, at.Namespace))
}

// gone returns the error for a revision that existed but whose record is no
// longer available.
func gone(at RevisionRef, why string) error {
	return &httpapi.Error{
		Status: http.StatusGone, Code: httpapi.CodeGone,
		Message: fmt.Sprintf("The record of revision %d of release %s %s.", at.Revision, at.Name, why),
	}
}

// unreadable returns the error for a revision that exists but cannot be shown.
// The decoder's errors quote nothing of a record.
func unreadable(at RevisionRef, err error) error {
	return httpapi.Unreadable(fmt.Sprintf("Revision %d of release %s exists but cannot be read: %s", at.Revision, at.Name, err))
}

// revisionNumber parses the number of a revision.
func revisionNumber(field, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, httpapi.BadField(field, field+" must be the number of a revision.")
	}
	return n, nil
}

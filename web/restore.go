package web

import (
	"errors"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// restoreValues is restore for the release of a request with another name.
func (s *Server) restoreValues(c *gin.Context, name string, values []byte) ([]byte, error) {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return nil, err
	}
	ref.Name = name
	return s.restore(c, cluster, ref, values)
}

// restore puts the secrets back into values that a client edited while
// they were masked. They come from the release's newest revision or its highest
// deployed one, at the same place; a token that stands for neither is refused
// by its path, so that nobody's password becomes a token. Values without tokens
// cost nothing and are passed on as they are.
func (s *Server) restore(c *gin.Context, cluster *watched, ref stream.ReleaseRef, values []byte) ([]byte, error) {
	// Without a base this succeeds if there are no tokens, and else tells
	// which one to name if there is no revision either.
	restored, err := s.masker(ref).Collect().Restore(values, nil)
	if err == nil {
		return restored, nil
	}
	for _, revision := range restoreBases(cluster.Releases.Revisions(ref.Namespace, ref.Name)) {
		record, readErr := s.record(c, revisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Revision: revision})
		if readErr != nil {
			return nil, readErr
		}
		if restored, err = s.restoreFrom(ref, record, values); err == nil {
			return restored, nil
		}
	}
	if refused, ok := errors.AsType[*mask.TokenError](err); ok {
		return nil, badRequest("values."+refused.Path, refused.Error()+".")
	}
	return nil, err
}

func (s *Server) restoreFrom(ref stream.ReleaseRef, record *decoder.Record, values []byte) ([]byte, error) {
	merged, err := decoder.MergedValues(record)
	if err != nil {
		return nil, err
	}
	secrets := s.masker(ref).Collect(mask.FromRecord(record))
	return secrets.Restore(values, mask.Schema(record), record.Config, merged)
}

// restoreBases are the numbers of the revisions from which somebody may have
// edited values: the newest, and the highest deployed one.
func restoreBases(revisions []*decoder.Revision) []int {
	newest, deployed := 0, 0
	for _, r := range revisions {
		newest = max(newest, r.Number)
		if r.Status() == decoder.StatusDeployed {
			deployed = max(deployed, r.Number)
		}
	}
	return slices.DeleteFunc(slices.Compact([]int{newest, deployed}), func(number int) bool { return number == 0 })
}

package history

import (
	"context"
	"errors"
	"slices"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// RestoreValues replaces the mask tokens in values that a client edited by the
// secrets. A secret comes from the same path in the release's newest revision or
// its highest deployed one. A token that matches neither is rejected with its
// path, so that no password is replaced by a token. Values without tokens are
// returned unchanged at once.
//
// A chart can print its values, so restoring a token shows the secret to the
// caller. The caller therefore needs permission to see the release's secrets, and
// the trail records the reveal before the values are returned. Nothing else may
// call [mask.Secrets.Restore].
func (s *Server) RestoreValues(ctx context.Context, caller *authz.Caller, ref helmtrail.ReleaseRef, values []byte) ([]byte, error) {
	// Without a base this succeeds if there are no tokens. Otherwise its error
	// names a token, which is also the right answer if there is no revision.
	restored, err := s.Masker(ref).Collect().Restore(values, nil)
	if err == nil {
		return restored, nil
	}
	if denied := s.MayReveal(ctx, caller, ref); denied != nil {
		return nil, mayNotRestore(ref, denied)
	}
	cluster, clusterErr := s.Cluster(ref.Cluster)
	if clusterErr != nil {
		return nil, clusterErr
	}
	for _, number := range restoreBases(cluster.Releases.Revisions(ref.Namespace, ref.Name)) {
		base := revisionOf(ref, number)
		ctx, end := s.Budget.Begin(ctx)
		record, readErr := s.record(ctx, caller, base)
		if readErr == nil {
			restored, err = s.restoreFrom(ctx, ref, record, values)
		}
		end()
		if readErr != nil {
			return nil, readErr
		}
		if err == nil {
			if err := s.Reveal(ctx, caller, base.reveal("restored values")); err != nil {
				return nil, err
			}
			return restored, nil
		}
	}
	if refused, ok := errors.AsType[*mask.TokenError](err); ok {
		return nil, httpapi.BadField("values."+refused.Path, refused.Error()+".")
	}
	return nil, err
}

// mayNotRestore returns the answer to values with tokens from a caller who may
// not see the release's secrets.
func mayNotRestore(ref helmtrail.ReleaseRef, err error) error {
	right := helmtrail.Right{Verb: "get", Resource: "secrets", Namespace: ref.Namespace}
	message := "The values contain masked secrets. Restoring them requires permission to " + right.String() +
		", which you don't have. Enter the secrets themselves, leave their keys out, or ask for the permission."
	denied, isDenied := errors.AsType[*helmtrail.ForbiddenError](err)
	switch {
	case isDenied:
		return httpapi.DeniedField(denied, "values", message)
	case authz.Undecided(err):
		return err
	}
	return httpapi.Forbidden(message)
}

func (s *Server) restoreFrom(ctx context.Context, ref helmtrail.ReleaseRef, record *decoder.Record, values []byte) ([]byte, error) {
	merged, err := decoder.MergedValues(record)
	if err != nil {
		return nil, err
	}
	secrets := s.Masker(ref).Within(ctx).Collect(mask.FromRecord(record))
	return secrets.Restore(values, mask.Schema(record), record.Config, merged)
}

// restoreBases returns the numbers of the revisions whose values a client may
// have edited: the newest, and the highest deployed one.
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

package history

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web/internal/authz"
)

// withFormer is a trail in which every release has a former lineage.
type withFormer struct{ Trail }

func (withFormer) Lineages(stream.ReleaseRef) []stream.Lineage {
	return []stream.Lineage{{ID: "old"}}
}

// narrowing is the access of a caller who may do everything, later on in the
// namespace shop alone.
type narrowing struct{ narrow bool }

func (*narrowing) User(context.Context, stream.Credentials) (stream.User, error) {
	return stream.User{Name: "caller"}, nil
}

func (n *narrowing) Allowed(_ context.Context, _ stream.Credentials, right stream.Right) error {
	if n.narrow && right.Namespace != "shop" {
		return &stream.ForbiddenError{User: "caller", Right: right}
	}
	return nil
}

func TestFormerLivesAreShownAsLongAsTheRightToThemLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var access narrowing
		s := New(Options{Trail: withFormer{}})
		caller := authz.Known("dev", "", &access, stream.Credentials{}, stream.User{})
		if former, err := s.SeesFormer(t.Context(), caller, stream.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}); !former || err != nil {
			t.Fatalf("with the right to all namespaces: %v %v", former, err)
		}
		time.Sleep(authz.RecheckAfter)
		if err := caller.Recheck(t.Context()); err != nil {
			t.Errorf("as long as it lasts: %v", err)
		}
		access.narrow = true
		time.Sleep(authz.RecheckAfter)
		if err := caller.Recheck(t.Context()); !authz.Refuses(err) {
			t.Errorf("without the right to all namespaces the request goes on: %v", err)
		}
	})
}

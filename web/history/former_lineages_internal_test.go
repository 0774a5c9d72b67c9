package history

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/web/internal/authz"
)

// withFormer is a trail in which every release has a former lineage.
type withFormer struct{ Trail }

func (withFormer) Lineages(helmtrail.ReleaseRef) []audit.Lineage {
	return []audit.Lineage{{ID: "old"}}
}

// narrowing is the access of a caller who may do everything at first, and later only
// in the namespace shop.
type narrowing struct{ narrow bool }

func (*narrowing) User(context.Context, helmtrail.Credentials) (helmtrail.User, error) {
	return helmtrail.User{Name: "caller"}, nil
}

func (n *narrowing) Allowed(_ context.Context, _ helmtrail.Credentials, right helmtrail.Right) error {
	if n.narrow && right.Namespace != "shop" {
		return &helmtrail.ForbiddenError{User: "caller", Right: right}
	}
	return nil
}

func TestFormerLineagesAreShownWhileThePermissionLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var access narrowing
		s := New(Options{Trail: withFormer{}})
		caller := authz.Known("dev", "", &access, helmtrail.Credentials{}, helmtrail.User{})
		if former, err := s.SeesFormer(t.Context(), caller, helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}); !former || err != nil {
			t.Fatalf("with permission for all namespaces: %v %v", former, err)
		}
		time.Sleep(authz.RecheckAfter)
		if err := caller.Recheck(t.Context()); err != nil {
			t.Errorf("while the permission lasts: %v", err)
		}
		access.narrow = true
		time.Sleep(authz.RecheckAfter)
		if err := caller.Recheck(t.Context()); !authz.Refuses(err) {
			t.Errorf("without permission for all namespaces the request continues: %v", err)
		}
	})
}

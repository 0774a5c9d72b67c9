package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// withFormer is a trail in which every release has lived in a former namespace.
type withFormer struct{ stream.Trail }

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
		s := &Server{options: Options{Trail: withFormer{}}}
		c := &gin.Context{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
		g := newGrant(&watched{Cluster: Cluster{Access: &access}}, stream.Credentials{}, stream.User{})
		c.Set(grantKey, g)
		if former, err := s.seesFormer(c, stream.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}); !former || err != nil {
			t.Fatalf("with the right to all namespaces: %v %v", former, err)
		}
		time.Sleep(recheckAfter)
		if err := g.still(t.Context()); err != nil {
			t.Errorf("as long as it lasts: %v", err)
		}
		access.narrow = true
		time.Sleep(recheckAfter)
		if err := g.still(t.Context()); !refuses(err) {
			t.Errorf("without the right to all namespaces the request goes on: %v", err)
		}
	})
}

package resources

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// discoveryAge is how old the knowledge of the API server's kinds must be
// before an unknown kind makes us ask again.
const discoveryAge = 2 * time.Second

// mapper knows the kinds that the API server has. It asks when a kind is
// needed, and again when one is unknown, since a chart may bring its own.
type mapper struct {
	kinds *restmapper.DeferredDiscoveryRESTMapper

	mu    sync.Mutex
	asked time.Time
}

func newMapper(d discovery.DiscoveryInterface) *mapper {
	return &mapper{
		kinds: restmapper.NewDeferredDiscoveryRESTMapperWithContext(
			memory.NewMemCacheClientWithContext(discovery.ToDiscoveryInterfaceWithContext(d))),
		asked: time.Now(),
	}
}

// find returns where objects of the kind are. The error satisfies
// [meta.IsNoMatchError] when the API server does not have it.
func (m *mapper) find(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := m.kinds.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
	if !meta.IsNoMatchError(err) || !m.stale() {
		return mapping, err
	}
	m.kinds.ResetWithContext(ctx)
	return m.kinds.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
}

// Find returns where objects of a kind are. The error satisfies
// [meta.IsNoMatchError] when the API server does not have the kind.
func (t *Tracker) Find(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	return t.mapper.find(ctx, kind)
}

// stale reports whether it is time to ask again, and takes it that the caller
// now does.
func (m *mapper) stale() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.asked) < discoveryAge {
		return false
	}
	m.asked = time.Now()
	return true
}

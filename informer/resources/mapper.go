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

// discoveryAge is the age of the discovery data from which an unknown kind causes a
// new discovery.
const discoveryAge = 2 * time.Second

// mapper maps kinds to resources. It discovers the API server's kinds when one is
// needed, and again when one is unknown, since a chart may define its own.
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

// find returns the resource of a kind. The error satisfies [meta.IsNoMatchError] if
// the API server does not have the kind.
func (m *mapper) find(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := m.kinds.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
	if !meta.IsNoMatchError(err) || !m.stale() {
		return mapping, err
	}
	m.kinds.ResetWithContext(ctx)
	return m.kinds.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
}

// Find returns the resource of a kind. The error satisfies [meta.IsNoMatchError] if
// the API server does not have the kind.
func (t *Tracker) Find(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	return t.mapper.find(ctx, kind)
}

// stale reports whether it is time for a new discovery. If so, the caller must start
// one.
func (m *mapper) stale() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.asked) < discoveryAge {
		return false
	}
	m.asked = time.Now()
	return true
}

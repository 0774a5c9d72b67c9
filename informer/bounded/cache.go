// Package bounded keeps values in memory, never more of them than fit.
package bounded

import (
	"sync"
	"time"

	gocache "github.com/patrickmn/go-cache"
)

// Options says how much a Cache holds and for how long.
type Options[V any] struct {
	// Limit is what the sizes of all values may add up to.
	Limit int
	// Size is what a value counts for; nil counts each as 1.
	Size func(V) int
	// Life is how long a value is kept; 0 keeps it until the cache is full.
	Life time.Duration
}

// Cache keeps values by key. When it is full, what has expired is dropped, and
// if that is not enough, everything. Its methods may be called concurrently.
// It has no goroutine of its own.
type Cache[V any] struct {
	options Options[V]
	cache   *gocache.Cache

	mu   sync.Mutex // held by whoever changes the cache
	size int
}

// New returns an empty cache.
func New[V any](o Options[V]) *Cache[V] {
	if o.Size == nil {
		o.Size = func(V) int { return 1 }
	}
	if o.Life == 0 {
		o.Life = gocache.NoExpiration
	}
	c := &Cache[V]{options: o, cache: gocache.New(o.Life, 0)}
	// It is called for each value that is deleted, under mu.
	c.cache.OnEvicted(func(_ string, v any) { c.size -= o.Size(v.(V)) })
	return c
}

// Get returns the value of a key, false if there is none or it has expired.
func (c *Cache[V]) Get(key string) (V, bool) {
	v, ok := c.cache.Get(key)
	if !ok {
		var none V
		return none, false
	}
	return v.(V), true
}

// Add keeps a value unless the key has one, or it would never fit.
func (c *Cache[V]) Add(key string, v V) {
	size := c.options.Size(v)
	if size > c.options.Limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.cache.Get(key); ok {
		return
	}
	c.cache.Delete(key) // It may have expired.
	if c.size+size > c.options.Limit {
		c.cache.DeleteExpired()
	}
	if c.size+size > c.options.Limit {
		c.cache.Flush()
		c.size = 0
	}
	c.cache.SetDefault(key, v)
	c.size += size
}

// Size is what the values count for together, expired ones included.
func (c *Cache[V]) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

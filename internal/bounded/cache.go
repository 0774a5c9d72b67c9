// Package bounded caches values in memory up to a limit. It is the project's
// only user of go-cache: typed, and without a janitor goroutine.
package bounded

import (
	"sync"
	"time"

	gocache "github.com/patrickmn/go-cache"
)

// Options configure a Cache.
type Options[V any] struct {
	// Limit is the maximum sum of the sizes of all values.
	Limit int
	// Size returns the size of a value; nil counts each value as 1.
	Size func(V) int
	// Life is how long a value is kept; 0 keeps it until the cache is full.
	Life time.Duration
}

// Cache keeps values by key. If it is full, it drops expired values and, if that
// is not enough, all values. Its methods may be called concurrently. It has no
// goroutine.
type Cache[V any] struct {
	options Options[V]
	cache   *gocache.Cache

	mu   sync.Mutex // held while the cache is changed
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
	// go-cache calls this for each value that is deleted, here always under mu.
	c.cache.OnEvicted(func(_ string, v any) { c.size -= o.Size(v.(V)) })
	return c
}

// Get returns the value of a key. It returns false if there is none or it has expired.
func (c *Cache[V]) Get(key string) (V, bool) {
	v, ok := c.cache.Get(key)
	if !ok {
		var none V
		return none, false
	}
	return v.(V), true
}

// Add keeps a value, unless the key already has one or the value alone exceeds
// the limit.
func (c *Cache[V]) Add(key string, v V) { c.AddFor(key, v, c.options.Life) }

// AddFor is Add for a value with a life of its own.
func (c *Cache[V]) AddFor(key string, v V, life time.Duration) {
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
	c.cache.Set(key, v, life)
	c.size += size
}

// Size returns the sum of the sizes of all values, expired ones included.
func (c *Cache[V]) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

package informer

import (
	"sync"

	gocache "github.com/patrickmn/go-cache"

	"github.com/helmtrail/helmtrail/decoder"
)

// recordsLimit bounds what the cache of decoded records holds, in bytes.
const recordsLimit = 64 << 20

// records caches decoded records by the digest of their bytes. A record never
// gets stale, so nothing expires; when the cache is full it starts anew.
type records struct {
	cache *gocache.Cache
	limit int // bytes

	mu   sync.Mutex
	size int
}

// newRecords makes an empty cache for so many bytes. Without an interval
// go-cache starts no goroutine.
func newRecords(limit int) *records {
	return &records{cache: gocache.New(gocache.NoExpiration, 0), limit: limit}
}

// decode returns the record in data, from the cache if it is there. The record
// is shared and must not be changed.
func (r *records) decode(digest string, data []byte) (*decoder.Record, error) {
	if cached, ok := r.cache.Get(digest); ok {
		return cached.(*decoder.Record), nil
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	r.add(digest, record)
	return record, nil
}

func (r *records) add(digest string, record *decoder.Record) {
	size := sizeOf(record)
	if size > r.limit {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size+size > r.limit {
		r.cache.Flush()
		r.size = 0
	}
	// Add refuses what another caller has put there in the meantime.
	if r.cache.Add(digest, record, gocache.NoExpiration) == nil {
		r.size += size
	}
}

// sizeOf is about what a record takes in memory: its JSON, and the parts that
// were copied out of it.
func sizeOf(record *decoder.Record) int {
	const overhead = 4 << 10
	size := overhead + len(record.Raw) + len(record.Manifest) + len(record.Notes)
	for _, hook := range record.Hooks {
		size += len(hook.Manifest)
	}
	return size
}

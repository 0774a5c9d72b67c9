package informer

import (
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/internal/bounded"
)

// recordsLimit bounds what the cache of decoded records holds, in bytes.
const recordsLimit = 64 << 20

// records caches decoded records by the digest of their bytes. A record never
// gets stale, so nothing expires.
type records struct {
	cache *bounded.Cache[decoded]
}

// decoded is what became of a record's bytes. That they cannot be decoded may
// take as long to find out as a record of the largest size.
type decoded struct {
	record *decoder.Record
	err    error
}

// newRecords makes an empty cache for so many bytes.
func newRecords(limit int) *records {
	return &records{cache: bounded.New(bounded.Options[decoded]{Limit: limit, Size: sizeOf})}
}

// decode returns the record in data, from the cache if it is there. The record
// is shared and must not be changed.
func (r *records) decode(digest string, data []byte) (*decoder.Record, error) {
	if cached, ok := r.cache.Get(digest); ok {
		return cached.record, cached.err
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	r.cache.Add(digest, decoded{record, err})
	return record, err
}

// sizeOf is about what a record takes in memory: its JSON, and the parts that
// were copied out of it.
func sizeOf(d decoded) int {
	const overhead = 4 << 10
	record := d.record
	if record == nil {
		return overhead
	}
	size := overhead + len(record.Raw) + len(record.Manifest) + len(record.Notes)
	for _, hook := range record.Hooks {
		size += len(hook.Manifest)
	}
	return size
}

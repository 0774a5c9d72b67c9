package informer

import (
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/bounded"
)

// recordsLimit bounds what the cache of decoded records holds, in bytes.
const recordsLimit = 64 << 20

// records caches decoded records by the digest of their bytes. A record never
// gets stale, so nothing expires.
type records struct {
	cache *bounded.Cache[*decoder.Record]
}

// newRecords makes an empty cache for so many bytes.
func newRecords(limit int) *records {
	return &records{cache: bounded.New(bounded.Options[*decoder.Record]{Limit: limit, Size: sizeOf})}
}

// decode returns the record in data, from the cache if it is there. The record
// is shared and must not be changed.
func (r *records) decode(digest string, data []byte) (*decoder.Record, error) {
	if cached, ok := r.cache.Get(digest); ok {
		return cached, nil
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	r.cache.Add(digest, record)
	return record, nil
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

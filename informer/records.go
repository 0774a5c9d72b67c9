package informer

import (
	"context"
	"errors"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/internal/bounded"
)

// recordsLimit bounds the cache of decoded records, in bytes.
const recordsLimit = 24 << 20

// records caches decoded records by the digest of their bytes. A record never
// becomes stale, so none expires.
type records struct {
	cache *bounded.Cache[decoded]
}

// decoded is the result of decoding a record's bytes. Errors are cached as well,
// since finding one may take as long as decoding the largest record.
type decoded struct {
	record *decoder.Record
	err    error
}

// newRecords returns an empty cache with a limit in bytes.
func newRecords(limit int) *records {
	return &records{cache: bounded.New(bounded.Options[decoded]{Limit: limit, Size: sizeOf})}
}

// decode returns the record in data, from the cache if possible, and takes its
// memory from the budget of ctx. The record is shared and must not be changed.
func (r *records) decode(ctx context.Context, digest string, data []byte) (*decoder.Record, error) {
	if cached, ok := r.cache.Get(digest); ok {
		if cached.err != nil {
			return nil, cached.err
		}
		return cached.record, budget.TakeFor(ctx, cached.record)
	}
	record, err := budget.Decode(ctx, data)
	if err == nil || errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge) {
		r.cache.Add(digest, decoded{record, err})
	}
	return record, err
}

// sizeOf estimates the memory of a record: its JSON, and the parts copied from it.
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

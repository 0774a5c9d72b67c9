package budget

import (
	"context"

	"github.com/helmtrail/helmtrail/decoder"
)

// Decode takes the memory for a record and decodes it. It fails as [Take] and
// [decoder.DecodeRecord] do.
func Decode(ctx context.Context, data []byte) (*decoder.Record, error) {
	extent, err := decoder.Measure(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	if err := Take(ctx, Weight(extent)); err != nil {
		return nil, err
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	record.Nodes = extent.Nodes
	return record, nil
}

// TakeFor takes the memory for a record that is decoded already.
func TakeFor(ctx context.Context, record *decoder.Record) error {
	return Take(ctx, Weight(decoder.Extent{Bytes: len(record.Raw), Nodes: record.Nodes}))
}

package history

import (
	"context"
	"strings"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// maxRecords bounds each cache of records, in bytes. Masking the largest record,
// or reading it from the trail, takes tenths of a second, and a page requests one
// part after the other. A record never changes, so entries do not expire.
const maxRecords = 12 << 20

// recordKey returns the cache key of a record's bytes in a release. Each release
// has its own tokens.
func recordKey(ref helmtrail.ReleaseRef, digest string) string {
	return strings.Join([]string{ref.Cluster, ref.Namespace, ref.Name, digest}, "\x00")
}

// recordSize returns the approximate memory of a record, in bytes.
func recordSize(record *decoder.Record) int {
	size := len(record.Raw) + len(record.Manifest) + len(record.Notes) + len(record.Config) + len(record.ChartValues)
	for _, hook := range record.Hooks {
		size += len(hook.Manifest)
	}
	return size
}

// maskedRecord returns the record with its secrets masked. It is shared and
// must not be changed.
func (s *Server) maskedRecord(ctx context.Context, ref helmtrail.ReleaseRef, record *decoder.Record) (*decoder.Record, error) {
	key := recordKey(ref, record.Digest)
	known, ok := s.masked.Get(key)
	if !ok || record.Digest == "" {
		var err error
		if known, err = s.Masker(ref).Within(ctx).Collect(mask.FromRecord(record)).Record(record); err != nil {
			return nil, err
		}
		if record.Digest != "" {
			s.masked.Add(key, known)
		}
	}
	// The labels are not part of the record's bytes, so they may have changed.
	shown := *known
	shown.Labels = record.Labels
	return &shown, nil
}

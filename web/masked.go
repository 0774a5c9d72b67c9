package web

import (
	"sync"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// maxMasked bounds what is remembered of masked records, in bytes.
const maxMasked = 32 << 20

// maskedKey names the bytes of a record in a release, whose tokens are its own.
type maskedKey struct {
	release stream.ReleaseRef
	digest  string
}

// maskedCache remembers masked records, since masking the largest takes tenths
// of a second and a page asks for one part after the other. A record never
// changes, so nothing expires; when the cache is full it starts anew.
type maskedCache struct {
	mu      sync.Mutex
	records map[maskedKey]*decoder.Record
	size    int
}

// masked returns the record with its secrets masked. It is shared and must not
// be changed.
func (s *Server) masked(ref stream.ReleaseRef, record *decoder.Record) (*decoder.Record, error) {
	key := maskedKey{ref, record.Digest}
	s.maskedRecords.mu.Lock()
	known := s.maskedRecords.records[key]
	s.maskedRecords.mu.Unlock()
	if known == nil || record.Digest == "" {
		var err error
		if known, err = s.masker(ref).Collect(mask.FromRecord(record)).Record(record); err != nil {
			return nil, err
		}
		s.maskedRecords.put(key, known)
	}
	// What does not come from the record's bytes is that of today.
	shown := *known
	shown.Labels = record.Labels
	return &shown, nil
}

func (m *maskedCache) put(key maskedKey, record *decoder.Record) {
	size := len(record.Raw) + len(record.Manifest) + len(record.Notes) + len(record.Config) + len(record.ChartValues)
	for _, hook := range record.Hooks {
		size += len(hook.Manifest)
	}
	if size > maxMasked || key.digest == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil || m.size+size > maxMasked {
		m.records, m.size = map[maskedKey]*decoder.Record{}, 0
	}
	if m.records[key] == nil {
		m.records[key] = record
		m.size += size
	}
}

package web

import (
	"sync"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// maxRecords bounds what is remembered of records in one cache, in bytes.
const maxRecords = 32 << 20

// recordKey names the bytes of a record in a release, whose tokens are its own.
type recordKey struct {
	release stream.ReleaseRef
	digest  string
}

// recordCache remembers records: masking the largest, and reading it from the
// trail, takes tenths of a second, and a page asks for one part after the
// other. A record never changes, so nothing expires; when the cache is full it
// starts anew.
type recordCache struct {
	mu      sync.Mutex
	records map[recordKey]*decoder.Record
	size    int
}

// masked returns the record with its secrets masked. It is shared and must not
// be changed.
func (s *Server) masked(ref stream.ReleaseRef, record *decoder.Record) (*decoder.Record, error) {
	key := recordKey{ref, record.Digest}
	known := s.maskedRecords.get(key)
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

// get returns the record of a key, nil if it is not remembered.
func (m *recordCache) get(key recordKey) *decoder.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key]
}

func (m *recordCache) put(key recordKey, record *decoder.Record) {
	size := len(record.Raw) + len(record.Manifest) + len(record.Notes) + len(record.Config) + len(record.ChartValues)
	for _, hook := range record.Hooks {
		size += len(hook.Manifest)
	}
	if size > maxRecords || key.digest == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil || m.size+size > maxRecords {
		m.records, m.size = map[recordKey]*decoder.Record{}, 0
	}
	if m.records[key] == nil {
		m.records[key] = record
		m.size += size
	}
}

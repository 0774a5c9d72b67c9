package backend

// Position is the place of an entry in the journal; 0 is before the first.
type Position uint64

// Entry holds events of one session that were stored together.
type Entry struct {
	// Position increases within a session.
	Position Position
	// Offset is an offset in helm's output, in bytes of its spool. Once these
	// events are stored, the log holds the output up to this offset.
	Offset int64
	// Data holds the events as JSON, one per line, at most MaxEntry bytes.
	Data []byte
}

// MaxEntry is the maximum size of an entry's data, in bytes. By default NATS
// refuses messages over 1 MiB.
const MaxEntry = 512 << 10

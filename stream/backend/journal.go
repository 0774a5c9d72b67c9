package backend

// Position is the place of an entry in the journal; 0 is before the first.
type Position uint64

// Entry is some events of one session that were stored together.
type Entry struct {
	// Position only grows within a session.
	Position Position
	// Mark is the offset in helm's output, in bytes of its spool, up to which it is
	// in the log once these events are stored.
	Mark int64
	// Data is the events as JSON, one per line, at most MaxEntry bytes.
	Data []byte
}

// MaxEntry bounds an entry's data, in bytes; NATS refuses messages over 1 MiB
// by default.
const MaxEntry = 512 << 10

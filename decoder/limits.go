package decoder

import "errors"

var (
	// ErrNotRecord is returned for bytes that Helm itself could not read as a
	// record: not base64, broken compression, broken JSON, or JSON of another shape.
	ErrNotRecord = errors.New("not a helm record")
	// ErrTooLarge is returned for a record that exceeds one of the limits.
	ErrTooLarge = errors.New("record too large")
)

const (
	// DefaultInflated is how many bytes of JSON a record may hold, 16 MiB. A
	// Secret takes 1 MiB, which leaves 768 KiB for the compressed record. Records
	// of real charts grow to two to eight times that when they are inflated.
	DefaultInflated = 16 << 20
	// DefaultDepth is how deep a record's JSON may be nested.
	DefaultDepth = 1000
	// DefaultNodes is how many keys and values a record's JSON may hold. Records
	// of large charts have some thousands: templates and manifests are one text
	// each.
	DefaultNodes = 200_000
	// DefaultDescription is how many bytes of a description a header keeps.
	DefaultDescription = 1024
)

// nameLimit is how many bytes of every other text a header keeps: names,
// versions and statuses, which are all far shorter in practice. With
// DefaultDescription it bounds the memory of a tracked revision.
const nameLimit = 128

// Limits bounds what is read. A zero field stands for its default.
type Limits struct {
	// Inflated is how many bytes of JSON are read at most.
	Inflated int
	// Depth is how deep the JSON may be nested.
	Depth int
	// Nodes is how many keys and values the JSON may hold. The fields that the
	// package reads itself do not count.
	Nodes int
	// Description is how many bytes of the description a header keeps. A longer
	// one is cut and ends in an ellipsis.
	Description int
}

func (l Limits) withDefaults() Limits {
	if l.Inflated <= 0 {
		l.Inflated = DefaultInflated
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Nodes <= 0 {
		l.Nodes = DefaultNodes
	}
	if l.Description <= 0 {
		l.Description = DefaultDescription
	}
	return l
}

package decoder

import "errors"

var (
	// ErrNotRecord is returned for bytes that Helm itself could not read as a
	// record: invalid base64, broken compression, broken JSON, or JSON of another
	// shape.
	ErrNotRecord = errors.New("not a helm record")
	// ErrTooLarge is returned for a record that exceeds one of the limits.
	ErrTooLarge = errors.New("record too large")
)

const (
	// DefaultInflated is the maximum size of a record's JSON in bytes, 16 MiB. A
	// Secret holds 1 MiB, which leaves 768 KiB for the compressed record. Records
	// of real charts inflate to two to eight times that.
	DefaultInflated = 16 << 20
	// DefaultDepth is the maximum nesting depth of a record's JSON.
	DefaultDepth = 1000
	// DefaultNodes is the maximum number of keys and values in a record's JSON.
	// Records of large charts have a few thousand, because each template and the
	// manifest is one string.
	DefaultNodes = 200_000
	// DefaultDescription is the maximum size of a description in a header, in
	// bytes.
	DefaultDescription = 1024
)

// nameLimit is the maximum size in bytes of every other text in a header:
// names, versions and statuses, which are all far shorter in practice. Together
// with DefaultDescription it bounds the memory of a tracked revision.
const nameLimit = 128

// Limits bounds the decoding of a record. A zero field selects its default.
type Limits struct {
	// Inflated is the maximum size of the JSON in bytes.
	Inflated int
	// Depth is the maximum nesting depth of the JSON.
	Depth int
	// Nodes is the maximum number of keys and values in the JSON. The fields that
	// the package itself reads do not count.
	Nodes int
	// Description is the maximum size of the description in a header, in bytes. A
	// longer description is cut and ends in an ellipsis.
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

package decoder

import "errors"

var (
	// ErrNotRecord means that the bytes are not a record that Helm itself could
	// read: not base64, broken compression, broken JSON, or JSON of another shape.
	ErrNotRecord = errors.New("not a helm record")
	// ErrTooLarge means that reading on would have gone beyond one of the limits.
	ErrTooLarge = errors.New("record too large")
)

const (
	// DefaultInflated is how many bytes of JSON a record may hold, 64 MiB. The
	// API server takes about 1.5 MB of compressed ones.
	DefaultInflated = 64 << 20
	// DefaultDepth is how deep a record's JSON may be nested.
	DefaultDepth = 1000
	// DefaultDescription is how many bytes of a description a header keeps.
	DefaultDescription = 1024
)

// nameLimit is how many bytes of every other text a header keeps: names,
// versions and statuses, all of which are far shorter in practice. With
// DefaultDescription it bounds what a tracked revision costs in memory.
const nameLimit = 128

// Limits bounds what is read. A zero field stands for its default.
type Limits struct {
	// Inflated is the most bytes of JSON that are read.
	Inflated int
	// Depth is how deep the JSON may be nested.
	Depth int
	// Description is how many bytes of the description a header keeps; a longer
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
	if l.Description <= 0 {
		l.Description = DefaultDescription
	}
	return l
}

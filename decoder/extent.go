package decoder

import (
	"errors"
	"fmt"
	"io"
)

// Extent is how large a record becomes when it is decoded.
type Extent struct {
	// Bytes is the size of the record's JSON.
	Bytes int
	// Nodes is at most how many keys and values the JSON has, together with the
	// YAML that its texts hold.
	Nodes int
}

// nodeBegins is 1 for each byte that can begin or separate keys and values in
// JSON, or in YAML that is quoted in JSON: there a line begins after \n.
var nodeBegins = func() (begins [256]uint8) {
	for _, c := range []byte(`,:[{\-?`) {
		begins[c] = 1
	}
	return begins
}()

// Measure returns the extent of a record without decoding it, in little memory.
// It inflates the record once, which takes far less time than to decode it. data
// is the value of the Secret's `release` key. The error wraps ErrNotRecord or
// ErrTooLarge; DecodeRecord would return it as well.
func Measure(data []byte, limits Limits) (Extent, error) {
	limits = limits.withDefaults()
	p := packeds.Get().(*packed)
	defer p.release()
	_, r, err := p.open(data)
	if err != nil {
		return Extent{}, fmt.Errorf("measure release record: %w", err)
	}
	extent := Extent{Nodes: 1}
	for {
		n, err := r.Read(p.chunk[:])
		extent.Bytes += n
		for _, c := range p.chunk[:n] {
			extent.Nodes += int(nodeBegins[c])
		}
		switch {
		case extent.Bytes > limits.Inflated:
			return Extent{}, fmt.Errorf("measure release record: %w", tooManyBytes(limits.Inflated))
		case errors.Is(err, io.EOF):
			return extent, nil
		case err != nil:
			return Extent{}, fmt.Errorf("measure release record: %w", brokenCompression(extent.Bytes))
		}
	}
}

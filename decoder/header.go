package decoder

import (
	"fmt"
	"regexp"
	"strconv"
)

// DecodeHeader reads the header of a record. data is the value of the Secret's
// `release` key as the API gives it, that is, still in Helm's own base64.
//
// It reads the record only until the header is complete, which with Helm's own
// order of the fields is within the first few kilobytes. What comes later is
// not looked at, so a record that is broken further on still has a header.
// Fields in another order cost time but are found all the same.
//
// The error wraps ErrNotRecord or ErrTooLarge and holds nothing of the content.
// The header keeps no reference to data.
func DecodeHeader(data []byte, limits Limits) (*Header, error) {
	header, _, err := decodeHeader(data, limits, headerFields)
	return header, err
}

// decodeHeader reads the header and, if it is wanted too, the record's revision
// number, which Helm writes near the end.
func decodeHeader(data []byte, limits Limits, want fields) (*Header, int, error) {
	limits = limits.withDefaults()
	src := sources.Get().(*source)
	defer src.release()
	if err := src.open(data); err != nil {
		return nil, 0, fmt.Errorf("decode release header: %w", err)
	}
	p := parsers.Get().(*parser)
	defer p.release()
	p.src, p.buf = src, p.window[:]
	p.room, p.depth = limits.Inflated, limits.Depth
	p.descriptionLimit, p.nameLimit = limits.Description, nameLimit
	p.want = want
	header, err := p.parse()
	if err != nil {
		return nil, 0, fmt.Errorf("decode release header: %w", err)
	}
	return header, p.version, nil
}

var rollbackWords = regexp.MustCompile(`^Rollback to (\d+)$`)

// RollbackTarget is the revision to which a rollback went back, 0 for none.
// Helm 3 tells it in the description only.
func (h *Header) RollbackTarget() int {
	if h.RollbackRevision != 0 {
		return h.RollbackRevision
	}
	if words := rollbackWords.FindStringSubmatch(h.Description); words != nil {
		n, _ := strconv.Atoi(words[1]) // a number too large to be one is none
		return n
	}
	return 0
}

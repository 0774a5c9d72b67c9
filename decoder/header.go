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
	p.room, p.depth, p.nodes = limits.Inflated, limits.Depth, limits.Nodes
	p.descriptionLimit, p.nameLimit = limits.Description, nameLimit
	p.want = want
	header, err := p.parse()
	if err != nil {
		return nil, 0, fmt.Errorf("decode release header: %w", err)
	}
	return header, p.version, nil
}

var (
	// rollbackWords is the description of a rollback, under way or done.
	rollbackWords = regexp.MustCompile(`^Rollback to (\d+)$`)
	// rollbackFailed is what Helm puts in its place when the rollback fails.
	rollbackFailed = regexp.MustCompile(`^Rollback "[^"]*" failed: `)
)

// Rollback reports whether a rollback made the revision, and which revision it
// went back to, 0 where the record does not say. Helm 4 has a field for the
// target. Helm 3 has it in the description only, which a failure replaces
// (helm.sh/helm/v3/pkg/action/rollback.go).
func (h *Header) Rollback() (target int, made bool) {
	if h.RollbackRevision != 0 {
		return h.RollbackRevision, true
	}
	if words := rollbackWords.FindStringSubmatch(h.Description); words != nil {
		if n, err := strconv.Atoi(words[1]); err == nil {
			return n, true
		}
	}
	return 0, h.Status == StatusPendingRollback || rollbackFailed.MatchString(h.Description)
}

// RollbackTarget returns the revision that a rollback went back to, 0 for a
// revision that no rollback made or whose record does not say.
func (h *Header) RollbackTarget() int {
	target, _ := h.Rollback()
	return target
}

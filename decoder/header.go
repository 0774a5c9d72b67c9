package decoder

import (
	"fmt"
	"regexp"
	"strconv"
)

// DecodeHeader decodes the header of a record. data is the value of the
// Secret's `release` key as returned by the API, still in Helm's own base64.
//
// It reads the record only until the header is complete, which in Helm's own
// field order is within the first few kilobytes. It ignores the rest, so a
// record that is damaged further on still has a header. Fields in another order
// cost time but are found as well.
//
// The error wraps ErrNotRecord or ErrTooLarge and contains no content. The
// header keeps no reference to data.
func DecodeHeader(data []byte, limits Limits) (*Header, error) {
	header, _, err := decodeHeader(data, limits, headerFields)
	return header, err
}

// decodeHeader decodes the header and, if wanted, the record's revision number,
// which Helm writes near the end.
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
	// rollbackWords matches the description of a rollback that is running or done.
	rollbackWords = regexp.MustCompile(`^Rollback to (\d+)$`)
	// rollbackFailed matches the description that Helm writes when the rollback
	// fails.
	rollbackFailed = regexp.MustCompile(`^Rollback "[^"]*" failed: `)
)

// Rollback reports whether a rollback created the revision, and returns the
// revision that it restored, or 0 if the record does not contain it. Helm 4 has
// a field for the target. Helm 3 has the target only in the description, which
// a failure replaces (helm.sh/helm/v3/pkg/action/rollback.go).
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

// RollbackTarget returns the revision that a rollback restored. It returns 0 if
// no rollback created the revision or the record does not contain the target.
func (h *Header) RollbackTarget() int {
	target, _ := h.Rollback()
	return target
}

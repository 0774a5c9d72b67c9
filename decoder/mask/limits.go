package mask

import (
	"errors"
	"fmt"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

const (
	// maxKnown bounds the memory of a release's known secrets with all their spellings:
	// enough for some ten thousand secrets.
	maxKnown = 24 << 20
	// maxParts is the maximum number of parts of one text that are masked one by
	// one. A text with more is masked as a whole.
	maxParts = 50_000
	// workPerByte is the number of bytes that may be compared for each byte of a
	// text in the search for known secrets, leastWork the number for any text. A
	// text that needs more is masked as a whole.
	workPerByte = 64
	leastWork   = 1 << 20
	// maxMerged is the maximum number of nodes that are read to find the keys of merged
	// mappings. Beyond that a mapping counts as a Secret.
	maxMerged = 10_000_000
	// maxSchemaWork is the maximum number of schemas that are applied to the
	// places of a tree. Beyond that every place counts as secret.
	maxSchemaWork = 10_000_000
)

// errTooManySecrets is returned for a release with more secrets than fit into memory.
var errTooManySecrets = fmt.Errorf("%w: too many secrets", decoder.ErrTooLarge)

// notShown replaces a text that cannot be masked.
const notShown = "(not shown: the release has too many secrets to mask them)"

// Err returns an error that wraps [decoder.ErrTooLarge] if there are too many
// secrets to remember, or a source is too large to be read, and the error of the
// Masker's context if that has ended. Nothing is shown then: every text becomes
// the same sentence, and everything else fails with this error.
func (s *Secrets) Err() error {
	if s.known.full {
		return errTooManySecrets
	}
	return s.masker.ctx.Err()
}

// tooLarge returns err as an error of the decoder, if it is one of size.
func tooLarge(err error) error {
	if errors.Is(err, tree.ErrTooLarge) {
		return fmt.Errorf("%w: %w", decoder.ErrTooLarge, err)
	}
	return err
}

// whole returns all of a text as the only part to mask.
func whole(text string) []part { return []part{{span: span{0, len(text)}}} }

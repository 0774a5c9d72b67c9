package compare

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

const (
	// contextLines is how many unchanged lines surround a change.
	contextLines = 3
	// maxLines is the maximum number of lines of both texts together in a unified diff.
	maxLines = 200_000
)

// notCompared is the diff of texts with too many lines.
const notCompared = "--- from\n+++ to\n@@ The texts differ, but have too many lines to be compared line by line. @@\n"

// Text returns the unified diff of two texts, "" if they are equal. For texts
// with too many lines the diff only says so.
func Text(from, to string) string {
	if from == to {
		return ""
	}
	if strings.Count(from, "\n")+strings.Count(to, "\n") > maxLines {
		return notCompared
	}
	diff, err := udiff.ToUnified("from", "to", from, udiff.Lines(from, to), contextLines)
	if err != nil {
		// It fails only for edits of another text.
		panic(err)
	}
	return diff
}

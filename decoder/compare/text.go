package compare

import udiff "github.com/aymanbagabas/go-udiff"

// contextLines is how many unchanged lines surround a change.
const contextLines = 3

// Text is the unified diff of two texts, "" if they are equal.
func Text(from, to string) string {
	if from == to {
		return ""
	}
	diff, err := udiff.ToUnified("from", "to", from, udiff.Lines(from, to), contextLines)
	if err != nil {
		// It fails only for edits that do not belong to the text.
		panic(err)
	}
	return diff
}

package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrTooLarge is returned for text that would need too much memory as a tree,
// and for a tree that would need too much as text.
var ErrTooLarge = errors.New("too many keys and values")

const (
	// MaxNodes is the maximum number of keys and values of a tree. A node takes
	// some 200 bytes, a hundred times as much as the text of a small number.
	MaxNodes = 200_000
	// MaxText is the maximum size of written YAML, in bytes. Indentation can make
	// it hundreds of times as long as the JSON it comes from.
	MaxText = 32 << 20
	// maxPath is the maximum length of a path, in bytes.
	maxPath = 1 << 10
)

// Fits reports whether YAML can be read without more than MaxNodes nodes. It
// counts all characters that can start or separate nodes, so it may reject a
// document of a megabyte or more that is mostly punctuation.
func Fits(text string) bool {
	room := MaxNodes
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n', ',', ':', '[', '{':
			room--
		case '-', '?':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				room--
			}
		}
		if room < 0 {
			return false
		}
	}
	return true
}

// FitsExpanded reports whether YAML can be read without more than MaxNodes nodes
// and MaxText bytes, even by a reader that copies anchors for every alias.
func FitsExpanded(text string) bool {
	if !Fits(text) {
		return false
	}
	if strings.IndexByte(text, '*') < 0 || strings.IndexByte(text, '&') < 0 {
		return true
	}
	documents, err := FromYAML(text)
	if err != nil {
		return true // Whoever reads it gets the same error.
	}
	e := expansion{known: map[*yaml.Node]int{}}
	total := 0
	for _, document := range documents {
		total += e.size(document)
	}
	return total <= MaxText
}

// expansion measures trees with their aliases followed.
type expansion struct {
	// known has the size of every anchor that an alias refers to. It is too
	// large for an anchor that is still being measured, which contains itself.
	known map[*yaml.Node]int
}

// size returns the approximate number of bytes of a tree as text. It never
// exceeds MaxText by much, so that sums do not overflow.
func (e *expansion) size(node *yaml.Node) int {
	if node.Kind == yaml.AliasNode {
		size, known := e.known[node.Alias]
		if !known {
			e.known[node.Alias] = MaxText + 1
			size = e.size(node.Alias)
			e.known[node.Alias] = size
		}
		return size
	}
	const separators = 4
	size := len(node.Value) + separators
	for _, inner := range node.Content {
		if size = size + e.size(inner); size > MaxText {
			return MaxText + 1
		}
	}
	return size
}

// short returns path or, if it is long, its beginning and a hash of it, so that
// the paths of a tree take no more memory than its nodes.
func short(path string) string {
	if len(path) <= maxPath {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return path[:maxPath/2] + "…" + hex.EncodeToString(sum[:16])
}

// limitedWriter fails with ErrTooLarge instead of writing more than room bytes.
type limitedWriter struct {
	w    io.Writer
	room int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.room -= len(p); l.room < 0 {
		return 0, ErrTooLarge
	}
	return l.w.Write(p)
}

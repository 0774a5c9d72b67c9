package mask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Values masks values in JSON and returns JSON. schema is the chart's, or nil.
// Values that are not secret keep their order and digits. The error wraps
// decoder.ErrTooLarge if masking needs too much memory.
func (s *Secrets) Values(values json.RawMessage, schema []byte) (json.RawMessage, error) {
	if len(values) == 0 {
		return values, nil
	}
	root, err := tree.FromJSON(values)
	if err != nil {
		return nil, fmt.Errorf("mask values: %w", tooLarge(err))
	}
	s.mask(root, place{schemas: newSchemas(schema)})
	masked, err := s.json(root)
	if err != nil {
		return nil, fmt.Errorf("mask values: %w", err)
	}
	return masked, nil
}

// json writes a masked tree.
func (s *Secrets) json(root *yaml.Node) (json.RawMessage, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	masked, err := tree.JSON(root)
	return masked, tooLarge(err)
}

// Object masks a Kubernetes object in JSON like Manifest, and returns JSON.
func (s *Secrets) Object(object json.RawMessage) (json.RawMessage, error) {
	root, err := tree.FromJSON(object)
	if err != nil {
		return nil, fmt.Errorf("mask an object: %w", tooLarge(err))
	}
	s.mask(root, place{path: objectPath(root)})
	masked, err := s.json(root)
	if err != nil {
		return nil, fmt.Errorf("mask an object: %w", err)
	}
	return masked, nil
}

const (
	// unreadable replaces a document whose secrets cannot be found.
	unreadable = "---\n# This document is not valid YAML, so it is not shown.\n"
	// oversized replaces a document that cannot be masked in bounded memory, and
	// everything after a manifest's first tree.MaxText bytes.
	oversized = "---\n# This document is too large to be masked, so it is not shown.\n"
)

// Manifest masks YAML documents. A document with secrets is rewritten; the others stay
// unchanged, byte for byte.
func (s *Secrets) Manifest(manifest string) string {
	var out strings.Builder
	for _, chunk := range tree.Documents(manifest) {
		masked := s.document(chunk)
		if s.Err() != nil || out.Len()+len(masked) > tree.MaxText {
			out.WriteString(oversized)
			break
		}
		out.WriteString(masked)
	}
	return out.String()
}

func (s *Secrets) document(chunk string) string {
	roots, err := tree.FromYAML(chunk)
	if errors.Is(err, tree.ErrTooLarge) {
		return oversized
	}
	if err != nil {
		return unreadable
	}
	changed := false
	for _, root := range roots {
		changed = s.mask(root, place{path: objectPath(root)}) || changed
	}
	if len(roots) == 0 {
		return s.Text(chunk) // Only comments, which belong to no node.
	}
	if !changed {
		return s.mend("", chunk, s.known.exact(chunk), nil)
	}
	written, err := tree.YAML(roots...)
	if errors.Is(err, tree.ErrTooLarge) {
		return oversized
	}
	if err != nil {
		return unreadable
	}
	if strings.HasPrefix(chunk, "---") {
		written = "---\n" + written
	}
	return s.mend("", written, s.known.exact(written), nil)
}

// objectPath returns the name of a document's object, so that the same key in two
// objects has two paths.
func objectPath(root *yaml.Node) string {
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	kind, name := tree.Get(root, "kind"), tree.Get(tree.Get(root, "metadata"), "name")
	if kind == nil || name == nil {
		return ""
	}
	return text(kind) + "/" + text(name)
}

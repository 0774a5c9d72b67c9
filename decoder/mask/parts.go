package mask

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Values masks values, which are JSON, and returns JSON. schema is the chart's
// own, nil for none. Order and digits of what is not secret stay.
func (s *Secrets) Values(values json.RawMessage, schema []byte) (json.RawMessage, error) {
	if len(values) == 0 {
		return values, nil
	}
	root, err := tree.FromJSON(values)
	if err != nil {
		return nil, fmt.Errorf("mask values: %w", err)
	}
	s.mask(root, place{schemas: newSchemas(schema)})
	masked, err := tree.JSON(root)
	if err != nil {
		return nil, fmt.Errorf("mask values: %w", err)
	}
	return masked, nil
}

// Object masks one object of Kubernetes in JSON, as Manifest does, and returns
// JSON.
func (s *Secrets) Object(object json.RawMessage) (json.RawMessage, error) {
	root, err := tree.FromJSON(object)
	if err != nil {
		return nil, fmt.Errorf("mask an object: %w", err)
	}
	s.mask(root, place{path: objectPath(root)})
	masked, err := tree.JSON(root)
	if err != nil {
		return nil, fmt.Errorf("mask an object: %w", err)
	}
	return masked, nil
}

// unreadable stands for a document whose secrets cannot be told.
const unreadable = "---\n# This document is no valid YAML, so it is not shown.\n"

// Manifest masks YAML documents. A document with secrets is written anew; all
// others stay as they are, byte for byte.
func (s *Secrets) Manifest(manifest string) string {
	var out strings.Builder
	for _, chunk := range tree.Documents(manifest) {
		out.WriteString(s.document(chunk))
	}
	return out.String()
}

func (s *Secrets) document(chunk string) string {
	roots, err := tree.FromYAML(chunk)
	if err != nil {
		return unreadable
	}
	changed := false
	for _, root := range roots {
		changed = s.mask(root, place{path: objectPath(root)}) || changed
	}
	if len(roots) == 0 {
		return s.Text(chunk) // Nothing but comments, which no node holds.
	}
	if !changed {
		return s.mend("", chunk, s.known.find(chunk), nil)
	}
	written, err := tree.YAML(roots...)
	if err != nil {
		return unreadable
	}
	if strings.HasPrefix(chunk, "---") {
		written = "---\n" + written
	}
	return s.mend("", written, s.known.find(written), nil)
}

// objectPath names the object of a document, so that the same key of two
// objects is two places.
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

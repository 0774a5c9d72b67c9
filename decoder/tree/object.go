package tree

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// Object writes a tree that FromYAML read as JSON, with aliases followed and
// keys sorted. Numbers in JSON's notation keep every digit; those in other
// notations, such as 0x10, are converted.
func Object(node *yaml.Node) (json.RawMessage, error) {
	root, err := Canonical(node)
	if err != nil {
		return nil, err
	}
	if err := plainScalars(root); err != nil {
		return nil, err
	}
	return JSON(root)
}

// plainScalars converts scalars that JSON does not have.
func plainScalars(node *yaml.Node) error {
	for _, inner := range node.Content {
		if err := plainScalars(inner); err != nil {
			return err
		}
	}
	if node.Kind != yaml.ScalarNode || node.Tag == String || node.Tag == Null {
		return nil
	}
	if json.Valid([]byte(node.Value)) && !bytes.ContainsAny([]byte(node.Value[:1]), `"{[`) {
		return nil
	}
	var value any
	if node.Decode(&value) == nil {
		if data, err := json.Marshal(value); err == nil && data[0] != '"' {
			node.Value = string(data)
			return nil
		}
	}
	// A date, binary data or a number such as .inf is a string in JSON.
	node.Tag = String
	return nil
}

// Package compare tells how two revisions differ: values by their paths,
// manifests by their objects, texts by their lines. What must not be seen has
// to be masked before. The package is pure; its functions may be called
// concurrently.
package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Kind says how something differs.
type Kind string

const (
	// Added means that only the second has it.
	Added Kind = "added"
	// Removed means that only the first has it.
	Removed Kind = "removed"
	// Changed means that both have it, but not alike.
	Changed Kind = "changed"
)

// Value is one difference of values.
type Value struct {
	// Path is where it stands, such as "db.hosts[0]".
	Path   string `json:"path"`
	Change Kind   `json:"change"`
	// From and To are JSON; the one that does not exist is null.
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

// Values compares two JSON values. Objects are compared by key and lists by
// position; the order of keys does not count, every digit of a number does.
// Differences come in the order of their keys. The errors quote nothing.
func Values(from, to json.RawMessage) ([]Value, error) {
	before, err := tree.FromJSON(from)
	if err != nil {
		return nil, fmt.Errorf("compare values: first: %w", err)
	}
	after, err := tree.FromJSON(to)
	if err != nil {
		return nil, fmt.Errorf("compare values: second: %w", err)
	}
	c := values{found: []Value{}}
	c.compare("", orEmpty(before), orEmpty(after))
	return c.found, c.err
}

// orEmpty takes no values at all for an empty mapping.
func orEmpty(node *yaml.Node) *yaml.Node {
	if node.Tag == tree.Null {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return node
}

type values struct {
	found []Value
	err   error
}

// compare compares what stands at one path; nil is nothing.
func (c *values) compare(path string, from, to *yaml.Node) {
	switch {
	case from != nil && to != nil && from.Kind == yaml.MappingNode && to.Kind == yaml.MappingNode:
		for _, key := range keys(from, to) {
			c.compare(tree.Join(path, key), tree.Get(from, key), tree.Get(to, key))
		}
	case from != nil && to != nil && from.Kind == yaml.SequenceNode && to.Kind == yaml.SequenceNode:
		for i := range max(len(from.Content), len(to.Content)) {
			c.compare(tree.Item(path, i), item(from, i), item(to, i))
		}
	default:
		c.add(path, from, to)
	}
}

func (c *values) add(path string, from, to *yaml.Node) {
	v := Value{Path: path, From: c.json(from), To: c.json(to), Change: Changed}
	switch {
	case from == nil:
		v.Change = Added
	case to == nil:
		v.Change = Removed
	case bytes.Equal(v.From, v.To):
		return
	}
	c.found = append(c.found, v)
}

func (c *values) json(node *yaml.Node) json.RawMessage {
	if node == nil {
		return json.RawMessage("null")
	}
	data, err := tree.JSON(node)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("compare values: %w", err)
	}
	return data
}

// keys are the keys of two mappings, sorted.
func keys(mappings ...*yaml.Node) []string {
	var all []string
	for _, mapping := range mappings {
		for i := 0; i < len(mapping.Content); i += 2 {
			all = append(all, mapping.Content[i].Value)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func item(list *yaml.Node, i int) *yaml.Node {
	if i < len(list.Content) {
		return list.Content[i]
	}
	return nil
}

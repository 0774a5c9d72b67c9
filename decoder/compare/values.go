// Package compare finds the differences of two revisions: of values by path, of
// manifests by object, of texts by line. Secrets must be masked before. Results
// and memory are bounded: input that is too large to be compared fails with an error
// that wraps decoder.ErrTooLarge. The package is pure; its functions may be
// called concurrently.
package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Kind says how something differs.
type Kind string

const (
	// Added means that only the second side has it.
	Added Kind = "added"
	// Removed means that only the first side has it.
	Removed Kind = "removed"
	// Changed means that the two sides differ.
	Changed Kind = "changed"
)

// Value is one difference of values.
type Value struct {
	// Path is the path of the difference, such as "db.hosts[0]".
	Path   string `json:"path"`
	Change Kind   `json:"change"`
	// From and To are JSON, null for a side that has no value.
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

// Values compares two JSON values. Objects are compared by key and lists by
// position. The order of keys is ignored; every digit of a number counts.
// Differences are in the order of their keys. The errors quote nothing.
func Values(from, to json.RawMessage) ([]Value, error) {
	before, err := tree.FromJSON(from)
	if err != nil {
		return nil, fmt.Errorf("compare values: first: %w", tooLarge(err))
	}
	after, err := tree.FromJSON(to)
	if err != nil {
		return nil, fmt.Errorf("compare values: second: %w", tooLarge(err))
	}
	c := values{found: []Value{}}
	c.compare("", orEmpty(before), orEmpty(after))
	return c.found, c.err
}

// tooLarge returns err as an error of the decoder, if it is one of size.
func tooLarge(err error) error {
	if errors.Is(err, tree.ErrTooLarge) {
		return fmt.Errorf("%w: %w", decoder.ErrTooLarge, err)
	}
	return err
}

// orEmpty returns an empty mapping for null.
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

// compare compares the nodes at one path; nil means that there is none.
func (c *values) compare(path string, from, to *yaml.Node) {
	switch {
	case from != nil && to != nil && from.Kind == yaml.MappingNode && to.Kind == yaml.MappingNode:
		before, after := members(from), members(to)
		for _, key := range keys(before, after) {
			c.compare(tree.Join(path, key), before[key], after[key])
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

// members returns the values of a mapping by key, the first of equal keys.
func members(mapping *yaml.Node) map[string]*yaml.Node {
	values := make(map[string]*yaml.Node, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if _, known := values[mapping.Content[i].Value]; !known {
			values[mapping.Content[i].Value] = mapping.Content[i+1]
		}
	}
	return values
}

// keys returns the keys of two mappings, sorted.
func keys(first, second map[string]*yaml.Node) []string {
	all := slices.AppendSeq(make([]string, 0, len(first)+len(second)), maps.Keys(first))
	all = slices.AppendSeq(all, maps.Keys(second))
	slices.Sort(all)
	return slices.Compact(all)
}

func item(list *yaml.Node, i int) *yaml.Node {
	if i < len(list.Content) {
		return list.Content[i]
	}
	return nil
}

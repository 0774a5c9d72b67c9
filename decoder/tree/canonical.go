package tree

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Canonical returns a copy of a tree in the form for comparisons: keys sorted,
// aliases followed, merges applied, without comments and styles. Two trees with
// the same meaning for Kubernetes become equal, apart from differences that
// depend on their types. It fails with ErrTooLarge if the aliases expand to more
// than MaxNodes nodes.
func Canonical(node *yaml.Node) (*yaml.Node, error) {
	c := canonical{room: MaxNodes}
	copied := c.copy(node)
	if c.room <= 0 {
		return nil, ErrTooLarge
	}
	return copied, nil
}

type canonical struct {
	// room is the number of nodes that may still be created.
	room  int
	depth int
}

func (c *canonical) copy(node *yaml.Node) *yaml.Node {
	// A cycle of aliases uses up the room.
	const deepest = 1000
	if c.room--; c.room <= 0 || c.depth > deepest {
		c.room = 0
		return Scalar(Null, "null")
	}
	c.depth++
	defer func() { c.depth-- }()
	switch node.Kind {
	case yaml.AliasNode:
		return c.copy(node.Alias)
	case yaml.DocumentNode:
		if len(node.Content) > 0 {
			return c.copy(node.Content[0])
		}
		return Scalar(Null, "null")
	case yaml.MappingNode:
		return c.mapping(node)
	case yaml.SequenceNode:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range node.Content {
			list.Content = append(list.Content, c.copy(item))
		}
		return list
	}
	copied := Scalar(node.Tag, node.Value)
	switch {
	case node.Tag == Null:
		copied.Value = "null"
	case node.Tag == Bool:
		copied.Value = strings.ToLower(node.Value)
	case node.Tag != Int && node.Tag != Float && node.Style&yaml.TaggedStyle == 0:
		copied.Tag = String
	}
	if node.Tag == String && strings.Contains(node.Value, "\n") {
		copied.Style = yaml.LiteralStyle
	}
	return copied
}

// mapping copies a mapping's own keys, the last of equal ones, and the keys of
// merged mappings that it does not have itself.
func (c *canonical) mapping(node *yaml.Node) *yaml.Node {
	values := map[string]*yaml.Node{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := c.copy(node.Content[i]), c.copy(node.Content[i+1])
		if node.Content[i].Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		values[key.Value] = value
	}
	for _, from := range merged {
		sources := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			sources = from.Content
		}
		for _, source := range sources {
			for i := 0; source.Kind == yaml.MappingNode && i+1 < len(source.Content); i += 2 {
				if _, own := values[source.Content[i].Value]; !own {
					values[source.Content[i].Value] = source.Content[i+1]
				}
			}
		}
	}
	sorted := make([]string, 0, len(values))
	for key := range values {
		sorted = append(sorted, key)
	}
	slices.Sort(sorted)
	mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range sorted {
		mapping.Content = append(mapping.Content, Scalar(String, key), values[key])
	}
	return mapping
}

package mask

import (
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// maxSchemas bounds the number of schemas for one place, which also ends circular
// references.
const maxSchemas = 64

// schemas describe one place of the values.
type schemas struct {
	root *yaml.Node
	here []*yaml.Node
	// index is shared by all places of a tree.
	index *schemaIndex
}

// schemaIndex makes looking up schemas cheap, and bounds the work.
type schemaIndex struct {
	// keys has the values of large mappings by their keys.
	keys map[*yaml.Node]map[string]*yaml.Node
	// patterns are the compiled regular expressions; nil if invalid.
	patterns map[string]*regexp.Regexp
	// work is the number of schemas that may still be applied.
	work int
}

func newSchemaIndex() *schemaIndex {
	return &schemaIndex{keys: map[*yaml.Node]map[string]*yaml.Node{}, patterns: map[string]*regexp.Regexp{}, work: maxSchemaWork}
}

// get is tree.Get in constant time.
func (x *schemaIndex) get(node *yaml.Node, key string) *yaml.Node {
	const few = 32
	if node == nil || node.Kind != yaml.MappingNode || len(node.Content) <= few {
		return tree.Get(node, key)
	}
	values := x.keys[node]
	if values == nil {
		values = make(map[string]*yaml.Node, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			if _, known := values[node.Content[i].Value]; !known {
				values[node.Content[i].Value] = node.Content[i+1]
			}
		}
		x.keys[node] = values
	}
	return values[key]
}

// matches reports whether a key matches a pattern. An invalid pattern matches.
func (x *schemaIndex) matches(pattern, key string) bool {
	compiled, known := x.patterns[pattern]
	if !known {
		compiled, _ = regexp.Compile(pattern) // nil if invalid
		x.patterns[pattern] = compiled
	}
	x.work -= len(key) / 64
	return compiled == nil || compiled.MatchString(key)
}

// exhausted reports whether the limit of applied schemas was reached.
func (s schemas) exhausted() bool { return s.index != nil && s.index.work <= 0 }

// newSchemas starts at the root of a chart's schema. An invalid schema applies to
// nothing; one that is too large makes everything secret.
func newSchemas(schema []byte) schemas {
	root, err := tree.FromJSON(schema)
	if errors.Is(err, tree.ErrTooLarge) {
		return schemas{index: &schemaIndex{}}
	}
	if err != nil || root.Kind != yaml.MappingNode {
		return schemas{}
	}
	s := schemas{root: root, index: newSchemaIndex()}
	s.add(root)
	return s
}

// add appends a schema and its subschemas for the same place.
func (s *schemas) add(schema *yaml.Node) {
	if schema == nil || schema.Kind != yaml.MappingNode || len(s.here) >= maxSchemas || s.exhausted() {
		return
	}
	s.index.work--
	for _, known := range s.here {
		if known == schema {
			return
		}
	}
	s.here = append(s.here, schema)
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		if ref := s.index.get(schema, keyword); ref != nil {
			s.add(s.resolve(ref.Value))
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list := s.index.get(schema, keyword); list != nil {
			for _, part := range list.Content {
				if len(s.here) < maxSchemas {
					s.add(part)
				}
			}
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		s.add(s.index.get(schema, keyword))
	}
}

// resolve follows a JSON pointer within the schema. It returns nil for any other
// reference.
func (s *schemas) resolve(ref string) *yaml.Node {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := s.root
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if part != "" {
			s.index.work--
			at = s.index.get(at, strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
		}
	}
	return at
}

// described reports whether any schema may apply to this place and those below.
func (s schemas) described() bool { return len(s.here) > 0 || s.exhausted() }

// key returns the schemas of a key of this place.
func (s schemas) key(key string) schemas {
	inner := schemas{root: s.root, index: s.index}
	for _, schema := range s.here {
		inner.add(s.index.get(s.index.get(schema, "properties"), key))
		inner.add(s.index.get(schema, "additionalProperties"))
		patterns := s.index.get(schema, "patternProperties")
		for i := 0; patterns != nil && i+1 < len(patterns.Content) && !s.exhausted(); i += 2 {
			s.index.work--
			if s.index.matches(patterns.Content[i].Value, key) {
				inner.add(patterns.Content[i+1])
			}
		}
	}
	return inner
}

// item returns the schemas of all items of this place.
func (s schemas) item() schemas {
	inner := schemas{root: s.root, index: s.index}
	for _, schema := range s.here {
		for _, keyword := range []string{"items", "prefixItems", "additionalItems"} {
			items := s.index.get(schema, keyword)
			inner.add(items)
			if items != nil && items.Kind == yaml.SequenceNode {
				for _, one := range items.Content {
					if len(inner.here) < maxSchemas {
						inner.add(one)
					}
				}
			}
		}
	}
	return inner
}

// secret reports whether the chart's schema marks this place as secret, or may do so.
func (s schemas) secret() bool {
	if s.exhausted() {
		return true
	}
	for _, schema := range s.here {
		format, writeOnly := s.index.get(schema, "format"), s.index.get(schema, "writeOnly")
		if format != nil && format.Value == "password" || writeOnly != nil && writeOnly.Value == "true" {
			return true
		}
	}
	return false
}

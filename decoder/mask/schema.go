package mask

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// maxSchemas bounds how many schemas describe one place, so that references
// that lead in circles end.
const maxSchemas = 64

// schemas are what describes one place of the values.
type schemas struct {
	root *yaml.Node
	here []*yaml.Node
}

// newSchemas starts at the root of a chart's schema. A schema that cannot be
// read describes nothing.
func newSchemas(schema []byte) schemas {
	root, err := tree.FromJSON(schema)
	if err != nil || root.Kind != yaml.MappingNode {
		return schemas{}
	}
	s := schemas{root: root}
	s.add(root)
	return s
}

// add takes in a schema and those that it is made of.
func (s *schemas) add(schema *yaml.Node) {
	if schema == nil || schema.Kind != yaml.MappingNode || len(s.here) >= maxSchemas {
		return
	}
	for _, known := range s.here {
		if known == schema {
			return
		}
	}
	s.here = append(s.here, schema)
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		if ref := tree.Get(schema, keyword); ref != nil {
			s.add(s.resolve(ref.Value))
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list := tree.Get(schema, keyword); list != nil {
			for _, part := range list.Content {
				s.add(part)
			}
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		s.add(tree.Get(schema, keyword))
	}
}

// resolve follows a JSON pointer within the schema; others lead nowhere.
func (s *schemas) resolve(ref string) *yaml.Node {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := s.root
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if part != "" {
			at = tree.Get(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
	}
	return at
}

// key returns what describes a key of this place.
func (s schemas) key(key string) schemas {
	inner := schemas{root: s.root}
	for _, schema := range s.here {
		inner.add(tree.Get(tree.Get(schema, "properties"), key))
		inner.add(tree.Get(schema, "additionalProperties"))
		patterns := tree.Get(schema, "patternProperties")
		for i := 0; patterns != nil && i+1 < len(patterns.Content); i += 2 {
			if pattern, err := regexp.Compile(patterns.Content[i].Value); err != nil || pattern.MatchString(key) {
				inner.add(patterns.Content[i+1])
			}
		}
	}
	return inner
}

// item returns what describes the items of this place, whichever they are.
func (s schemas) item() schemas {
	inner := schemas{root: s.root}
	for _, schema := range s.here {
		for _, keyword := range []string{"items", "prefixItems", "additionalItems"} {
			items := tree.Get(schema, keyword)
			inner.add(items)
			if items != nil && items.Kind == yaml.SequenceNode {
				for _, one := range items.Content {
					inner.add(one)
				}
			}
		}
	}
	return inner
}

// secret reports whether the chart calls this place secret.
func (s schemas) secret() bool {
	for _, schema := range s.here {
		format, writeOnly := tree.Get(schema, "format"), tree.Get(schema, "writeOnly")
		if format != nil && format.Value == "password" || writeOnly != nil && writeOnly.Value == "true" {
			return true
		}
	}
	return false
}

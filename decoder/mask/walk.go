package mask

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// level says how secret a place is.
type level int

const (
	// open means that parts of the text may be secret.
	open level = iota
	// secret means that texts and numbers are secret.
	secret
	// sealed is for a Secret's data: everything is secret as a whole.
	sealed
)

// place is the position of a node.
type place struct {
	path    string
	level   level
	schemas schemas
	// ofSecret means that the node belongs to a Secret object by YAML's merge key.
	ofSecret bool
	// base64 means that the value is base64, as in a Secret's data.
	base64 bool
	// key is the nearest enclosing mapping key.
	key string
}

// walker visits every scalar of a tree.
type walker struct {
	// leaf is called for each value, which it may change.
	leaf func(node *yaml.Node, at place)
	// label is called for each key of a mapping. A key is not secret by its place.
	label func(node *yaml.Node, path string)
	// aliased has the anchors that were visited through an alias. It ends cycles and
	// bounds the visits.
	aliased map[visit]bool
	// merged counts the nodes that were read to find the keys of mappings.
	merged int
	// stopped reports whether to stop the walk; it may be nil.
	stopped func() bool
}

type visit struct {
	node  *yaml.Node
	level level
	seal  bool
}

func (w *walker) walk(node *yaml.Node, at place) {
	if w.stopped != nil && w.stopped() {
		return
	}
	switch node.Kind {
	case yaml.DocumentNode:
		for _, inner := range node.Content {
			w.walk(inner, at)
		}
	case yaml.AliasNode:
		v := visit{node.Alias, at.level, at.ofSecret}
		if w.aliased == nil {
			w.aliased = map[visit]bool{}
		}
		if node.Alias != nil && !w.aliased[v] {
			w.aliased[v] = true
			w.walk(node.Alias, at)
		}
	case yaml.MappingNode:
		w.mapping(node, at)
	case yaml.SequenceNode:
		w.sequence(node, at)
	case yaml.ScalarNode:
		w.leaf(node, at)
	}
}

func (w *walker) mapping(node *yaml.Node, at place) {
	ofSecret := at.ofSecret || w.has(node, "kind", func(kind string) bool { return kind == "Secret" }, 0)
	if at.level == secret && isReference(node) {
		at.level = open
	}
	secretPair := w.has(node, "name", namesSecret, 0) || w.has(node, "key", namesSecret, 0)
	for i := 0; i+1 < len(node.Content); i += 2 {
		keyNode, value := node.Content[i], node.Content[i+1]
		key := text(keyNode)
		inner := place{path: tree.Join(at.path, key), key: key, level: open, base64: at.base64}
		if at.schemas.described() {
			inner.schemas = at.schemas.key(key)
		}
		switch {
		case keyNode.Tag == "!!merge":
			inner = at
			inner.ofSecret = ofSecret
		case at.level == sealed:
			inner.level = sealed
		case ofSecret && (key == "data" || key == "stringData"):
			// Both have the same path, so that a value has the same token in both.
			inner.level, inner.path, inner.base64 = sealed, tree.Join(at.path, "data"), key == "data"
		case at.level == secret && !plainWithin(key), namesSecret(key), secretPair && key == "value", inner.schemas.secret():
			inner.level = secret
		}
		w.label(keyNode, at.path)
		w.walk(value, inner)
	}
}

func (w *walker) sequence(node *yaml.Node, at place) {
	inner := at
	if at.schemas.described() {
		inner.schemas = at.schemas.item()
		if inner.level == open && inner.schemas.secret() {
			inner.level = secret
		}
	}
	announced := false
	for i, item := range node.Content {
		one := inner
		one.path = tree.Item(at.path, i)
		argument := text(item)
		if announced && one.level == open && !strings.HasPrefix(argument, "-") {
			one.level = secret
		}
		announced = strings.HasPrefix(argument, "-") && !strings.Contains(argument, "=") && namesSecret(argument)
		w.walk(item, one)
	}
}

// text returns a scalar's text, following an alias.
func text(node *yaml.Node) string {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	if node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// has reports whether a mapping, or one merged into it, has a text for a key that
// fits. A duplicate key fits if one of its values does. If too many mappings are
// merged, has returns true.
func (w *walker) has(node *yaml.Node, key string, fits func(string) bool, depth int) bool {
	const deepest = 8
	if w.merged++; w.merged > maxMerged {
		return true
	}
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	if depth > deepest {
		return false
	}
	if node.Kind == yaml.SequenceNode {
		return slices.ContainsFunc(node.Content, func(one *yaml.Node) bool { return w.has(one, key, fits, depth+1) })
	}
	if node.Kind != yaml.MappingNode {
		return false
	}
	w.merged += len(node.Content)
	for i := 0; i+1 < len(node.Content); i += 2 {
		if text(node.Content[i]) == key && fits(text(node.Content[i+1])) {
			return true
		}
		if node.Content[i].Tag == "!!merge" && w.has(node.Content[i+1], key, fits, depth+1) {
			return true
		}
	}
	return false
}

// isReference reports whether a mapping below a secret key only refers to a
// Secret, as volumes and environment variables do.
func isReference(node *yaml.Node) bool {
	for i := 0; i+1 < len(node.Content); i += 2 {
		switch text(node.Content[i]) {
		case "secretName":
			return true
		case "name", "namespace", "key", "items", "optional", "defaultMode":
		default:
			return false
		}
	}
	return true
}

// plainWithin reports whether a key's value is shown even below a secret key.
func plainWithin(key string) bool {
	plain := letters(key)
	return slices.Contains(plainInside, key) || strings.HasPrefix(plain, "existing") || strings.HasSuffix(plain, "secretname")
}

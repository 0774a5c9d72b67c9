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
	// unsure means that values that look random are secret.
	unsure
	// secret means that values are secret, unless they only describe a secret.
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
	// key is the nearest enclosing mapping key; for the value of a pair of name and
	// value, and of a flag, it is the name.
	key string
	// item means that the node is an item of a list.
	item bool
	// declared means that the chart's schema declares the value as secret.
	declared bool
	// refers means that the node's mapping refers to a key of a Secret.
	refers bool
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
	// grades has the grades of keys, which occur again and again.
	grades map[string]grade
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
	pair, refers := w.pairName(node), w.refersToKey(node, at)
	for i := 0; i+1 < len(node.Content); i += 2 {
		keyNode, value := node.Content[i], node.Content[i+1]
		key := text(keyNode)
		inner := place{path: tree.Join(at.path, key), key: key, level: open, base64: at.base64, refers: refers}
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
		case inner.schemas.secret():
			inner.level, inner.declared = secret, true
		case at.declared:
			inner.level, inner.declared = at.level, true
		case pair != "" && key == "value":
			inner.key, inner.level = pair, w.levelOf(pair, value)
		case at.level == secret && !w.plainWithin(key):
			inner.level = secret
		default:
			inner.level = w.levelOf(key, value)
			if at.level == unsure && !w.plainWithin(key) {
				inner.level = max(inner.level, unsure)
			}
		}
		w.label(keyNode, at.path)
		w.walk(value, inner)
	}
}

func (w *walker) sequence(node *yaml.Node, at place) {
	inner := at
	if at.schemas.described() {
		inner.schemas = at.schemas.item()
		if inner.level < secret && inner.schemas.secret() {
			inner.level, inner.declared = secret, true
		}
	}
	inner.item = true
	flag := ""
	for i, item := range node.Content {
		one := inner
		one.path = tree.Item(at.path, i)
		argument := text(item)
		if flag != "" && one.level == open && !strings.HasPrefix(argument, "-") {
			one.key, one.level, one.item = flag, w.levelOf(flag, item), false
		}
		flag = ""
		if strings.HasPrefix(argument, "-") && !strings.Contains(argument, "=") {
			flag = argument
		}
		w.walk(item, one)
	}
}

// grade is gradeOf.
func (w *walker) grade(key string) grade {
	const most = 1 << 12
	found, known := w.grades[key]
	if known {
		return found
	}
	found = gradeOf(key)
	if w.grades == nil {
		w.grades = map[string]grade{}
	}
	if len(w.grades) < most {
		w.grades[key] = found
	}
	return found
}

// levelOf returns the level of a value by the name of its key.
func (w *walker) levelOf(key string, value *yaml.Node) level {
	mappings := holdsMappings(value)
	switch w.grade(key) {
	case named:
		if mappings && !holdsSecrets(key) {
			return unsure
		}
		return secret
	case likely:
		if !mappings || hasAnySuffix(letters(key), []string{"keys", "cookies", "license"}) {
			return unsure
		}
	case ordinary:
	}
	return open
}

// holdsMappings reports whether a node is a mapping or a list of mappings.
func holdsMappings(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	if node.Kind == yaml.SequenceNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	return node.Kind == yaml.MappingNode
}

// pairName returns the name of a pair of name and value, such as an environment
// variable. It prefers one that names a secret.
func (w *walker) pairName(node *yaml.Node) string {
	name, best := "", ordinary
	for _, key := range []string{"name", "key"} {
		w.has(node, key, func(text string) bool {
			if found := w.grade(text); found > best {
				name, best = text, found
			}
			return best == named
		}, 0)
	}
	return name
}

// refersToKey reports whether a mapping refers to keys of a Secret, as
// "secretKey: password" beside "remoteRef" or "secretName" does. Below "secretKeys" and
// "existingSecret" it has only such names.
func (w *walker) refersToKey(node *yaml.Node, at place) bool {
	if own := letters(at.key); own == "secretkeys" || strings.Contains(own, "existingsecret") || tree.Get(node, "remoteRef") != nil {
		return true
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if !slices.Contains(referring, text(node.Content[i])) {
			return false
		}
	}
	present := func(key string) bool {
		return w.has(node, key, func(text string) bool { return objectName.MatchString(text) && !looksRandom(text) }, 0)
	}
	return present("secretName") || present("secretRef") || at.level == secret && present("secret")
}

// referring are the keys of mappings that refer to a Secret, as some charts write them.
var referring = []string{
	"name", "namespace", "key", "items", "optional", "defaultMode", "enabled", "useSecret", "file", "path", "value", "envName", "version",
	"secret", "secretName", "secretRef", "secretKey",
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
		case "name", "namespace", "key", "items", "optional", "defaultMode", "enabled":
		default:
			return false
		}
	}
	return true
}

// plainWithin reports whether a key's value is shown even below a secret key.
func (w *walker) plainWithin(key string) bool {
	list, plain := words(key), letters(key)
	return slices.Contains(plainInside, list[len(list)-1]) && !namesSecret(key) || containsAny(plain, plainParts) || list[0] == "existing" || strings.HasSuffix(plain, "secretref")
}

package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Source is where secrets are looked for.
type Source struct {
	// Values are mappings in JSON or YAML: what the user supplied, the chart's
	// defaults.
	Values []json.RawMessage
	// Schema is the chart's JSON schema for them, nil for none.
	Schema []byte
	// Manifests are YAML documents: a manifest, hooks.
	Manifests []string
	// Strings are secret as they are, a repository's password for example.
	Strings []string
}

// FromRecord is everything in a record that may hold secrets; nil is nothing.
func FromRecord(record *decoder.Record) Source {
	if record == nil {
		return Source{}
	}
	s := Source{Values: []json.RawMessage{record.Config, record.ChartValues}, Schema: Schema(record), Manifests: []string{record.Manifest}}
	// What is secret can come from both: the name of a variable from the
	// chart, its value from the user.
	if merged, err := decoder.MergedValues(record); err == nil {
		s.Values = append(s.Values, merged)
	}
	for _, hook := range record.Hooks {
		s.Manifests = append(s.Manifests, hook.Manifest)
	}
	return s
}

// Schema is the JSON schema of the record's chart, nil if it has none.
func Schema(record *decoder.Record) []byte {
	var raw struct {
		Chart struct {
			Schema []byte `json:"schema"`
		} `json:"chart"`
	}
	if json.Unmarshal(record.Raw, &raw) != nil {
		return nil
	}
	return raw.Chart.Schema
}

// Secrets masks what belongs to one release.
type Secrets struct {
	masker *Masker
	known  *known
}

// Collect finds the secrets in sources. What is found first gives a value its
// token, so values should come before manifests made from them, which within
// one Source they do. A source that cannot be read adds nothing.
func (m *Masker) Collect(sources ...Source) *Secrets {
	s := &Secrets{masker: m, known: newKnown()}
	for _, source := range sources {
		for _, text := range source.Strings {
			s.known.add(text, m.token("", text))
		}
		described := newSchemas(source.Schema)
		for _, values := range source.Values {
			for _, root := range readValues(values) {
				s.collect(root, place{schemas: described})
			}
		}
		if described.root != nil {
			eachSample(described.root, "", open, s.collect)
		}
		for _, manifest := range source.Manifests {
			for _, chunk := range tree.Documents(manifest) {
				roots, err := tree.FromYAML(chunk)
				if err != nil {
					continue
				}
				for _, root := range roots {
					s.collect(root, place{path: objectPath(root)})
				}
			}
		}
	}
	return s
}

func readValues(values json.RawMessage) []*yaml.Node {
	if len(values) == 0 {
		return nil
	}
	if root, err := tree.FromJSON(values); err == nil {
		return []*yaml.Node{root}
	}
	roots, err := tree.FromYAML(string(values))
	if err != nil {
		return nil
	}
	return roots
}

// plainData are keys of Secrets whose values are shown nowhere in the Secret,
// but are too common to be masked in other texts.
var plainData = []string{"username", "user", "host", "hostname", "port", "database", "dbname", "db", "namespace", "name", "email", "region", "bucket", "type"}

// collect makes the secrets of a tree known.
func (s *Secrets) collect(root *yaml.Node, at place) {
	w := walker{label: func(*yaml.Node, string) {}}
	w.leaf = func(node *yaml.Node, at place) {
		if hidden(node, at) {
			value := decoded(node, at)
			if at.level != sealed || !slices.Contains(plainData, letters(at.key)) {
				s.known.add(value, s.masker.token(at.path, typed(node, value)))
			}
			s.collectParts(at.path, value)
			return
		}
		s.collectParts(at.path, node.Value)
	}
	w.walk(root, at)
}

func (s *Secrets) collectParts(path, value string) {
	for _, part := range find(value, announcesSecret) {
		piece := value[part.start:part.end]
		s.known.add(piece, s.masker.token(path, piece))
	}
}

// hidden reports whether a scalar is secret as a whole.
func hidden(node *yaml.Node, at place) bool {
	switch {
	case at.level == open || node.Value == "" || node.Tag == tree.Null:
		return false
	case at.level == sealed:
		return true
	}
	return node.Tag != tree.Bool
}

// decoded is a scalar's value without a Secret's base64.
func decoded(node *yaml.Node, at place) string {
	if at.base64 {
		if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(node.Value), "")); err == nil {
			return string(plain)
		}
	}
	return node.Value
}

// typed tells a number from a text of the same digits.
func typed(node *yaml.Node, value string) string {
	if node.Tag == tree.Int || node.Tag == tree.Float {
		return node.Tag + " " + value
	}
	return value
}

// mask hides the secrets of a tree and reports whether there were any.
func (s *Secrets) mask(root *yaml.Node, at place) bool {
	return s.maskBut(map[*yaml.Node]bool{}, root, at)
}

// maskBut is mask for a tree of which some scalars are masked already.
func (s *Secrets) maskBut(done map[*yaml.Node]bool, root *yaml.Node, at place) bool {
	changed := false
	w := walker{}
	w.label = func(node *yaml.Node, path string) {
		if masked := s.mend(path, node.Value, s.known.find(node.Value), find(node.Value, noName)); masked != node.Value {
			node.Value, changed = masked, true
		}
	}
	w.leaf = func(node *yaml.Node, at place) {
		if done[node] {
			return
		}
		if masked := s.scalar(node, at); masked != node.Value {
			done[node] = hidden(node, at)
			node.Value, node.Tag, changed = masked, tree.String, true
			if !strings.Contains(masked, "\n") {
				node.Style = 0
			}
		}
	}
	w.walk(root, at)
	return s.comments(root) || changed
}

// scalar is what is shown of a value.
func (s *Secrets) scalar(node *yaml.Node, at place) string {
	if hidden(node, at) && !tokens.MatchString(node.Value) {
		return s.masker.token(at.path, typed(node, decoded(node, at)))
	}
	return s.mend(at.path, node.Value, s.known.find(node.Value), find(node.Value, namesSecret))
}

// comments masks the comments of a tree, which can quote anything.
func (s *Secrets) comments(node *yaml.Node) bool {
	changed := false
	for _, comment := range []*string{&node.HeadComment, &node.LineComment, &node.FootComment} {
		if masked := s.Text(*comment); masked != *comment {
			*comment, changed = masked, true
		}
	}
	for _, inner := range node.Content {
		changed = s.comments(inner) || changed
	}
	return changed
}

func noName(string) bool { return false }

// mend replaces parts of a text by tokens: parts that are known by the tokens
// that they have, others by new ones. Parts that overlap become one.
func (s *Secrets) mend(path, text string, known, others []span) string {
	return s.mendEach(path, text, known, others, func(string, string) {})
}

// mendEach is mend, and calls each with every part and its token.
func (s *Secrets) mendEach(path, text string, known, others []span, each func(piece, token string)) string {
	all := slices.Concat(known, others)
	if len(all) == 0 {
		return text
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var out strings.Builder
	last := 0
	for i := 0; i < len(all); {
		one, token := all[i], ""
		for ; i < len(all) && (all[i].start < one.end || all[i] == one); i++ {
			one.end = max(one.end, all[i].end)
			token = cmp.Or(token, s.known.tokens[text[all[i].start:all[i].end]])
		}
		piece := text[one.start:one.end]
		if token = cmp.Or(s.known.tokens[piece], token); token == "" {
			token = s.masker.token(path, piece)
		}
		each(piece, token)
		out.WriteString(text[last:one.start] + token)
		last = one.end
	}
	return out.String() + text[last:]
}

// Text masks text for people, such as notes: the secrets that are known, and
// what is secret by its looks.
func (s *Secrets) Text(text string) string {
	return s.mend("", text, s.known.find(text), find(text, announcesSecret))
}

// Line masks one line of a log, as Text does. It takes microseconds, so that
// it can be called for every line.
func (s *Secrets) Line(line string) string { return s.Text(line) }

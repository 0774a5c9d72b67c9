package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Source has the texts and values in which secrets are searched for.
type Source struct {
	// Values are mappings in JSON or YAML: user-supplied values and the chart's
	// defaults.
	Values []json.RawMessage
	// Schema is the chart's JSON schema for the values, or nil.
	Schema []byte
	// Manifests are YAML documents: a manifest, hooks.
	Manifests []string
	// Strings are secrets themselves, such as a repository's password.
	Strings []string
	// Names are public, such as the chart's, besides those in Values and Manifests.
	Names []string
}

// FromRecord returns the parts of a record that may hold secrets. record may be nil.
func FromRecord(record *decoder.Record) Source {
	if record == nil {
		return Source{}
	}
	s := Source{Values: []json.RawMessage{record.Config, record.ChartValues}, Schema: Schema(record), Manifests: []string{record.Manifest}}
	// A secret may need both: the name of a variable is from the chart, its value
	// from the user.
	if merged, err := decoder.MergedValues(record); err == nil {
		s.Values = append(s.Values, merged)
	}
	for _, hook := range record.Hooks {
		s.Manifests = append(s.Manifests, hook.Manifest)
	}
	if record.Metadata != nil {
		s.Names = []string{record.Metadata.Name}
	}
	return s
}

// Schema returns the JSON schema of the record's chart, or nil.
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

// Secrets masks the texts and values of one release.
type Secrets struct {
	masker *Masker
	known  *known
	// found are the secrets in their order, until all public names are known.
	found []finding
	size  int
}

type finding struct{ value, token string }

// Collect finds the secrets in sources. A value gets the token of the place where
// it is found first, so values should come before the manifests rendered with
// them, as they do within one Source. A source that is not valid JSON or YAML
// adds nothing. If one is too large, or has too many secrets, [Secrets.Err]
// returns an error.
func (m *Masker) Collect(sources ...Source) *Secrets {
	s := &Secrets{masker: m, known: newKnown()}
	s.known.public = newPublic()
	for _, name := range []string{m.release.Name, m.release.Namespace, m.release.Cluster} {
		s.known.public.add(name)
	}
	for _, source := range sources {
		s.collectSource(source)
	}
	for _, f := range s.found {
		s.known.add(f.value, f.token)
	}
	s.found = nil
	return s
}

func (s *Secrets) collectSource(source Source) {
	for _, name := range source.Names {
		s.known.public.add(name)
	}
	for _, text := range source.Strings {
		s.find(text, s.masker.token("", text))
	}
	described := newSchemas(source.Schema)
	for _, values := range source.Values {
		for _, root := range s.readValues(values) {
			s.collect(root, place{schemas: described})
		}
	}
	if described.root != nil {
		s.eachSample(described.root, "", open, s.collect)
	}
	for _, manifest := range source.Manifests {
		for _, chunk := range tree.Documents(manifest) {
			if s.Err() != nil {
				return
			}
			// A document that cannot be read is not shown either.
			roots, err := tree.FromYAML(chunk)
			if err != nil {
				s.missed(err)
				continue
			}
			for _, root := range roots {
				s.collect(root, place{path: objectPath(root)})
			}
		}
	}
}

// find remembers a secret.
func (s *Secrets) find(value, token string) {
	const entry = 100 // the memory of a finding without its value
	if s.size += len(value) + entry; s.size > maxKnown {
		s.known.full = true
		return
	}
	s.found = append(s.found, finding{value, token})
}

// missed records that a source was too large to be read, if err is such an error.
func (s *Secrets) missed(err error) {
	if errors.Is(err, tree.ErrTooLarge) {
		s.known.full = true
	}
}

func (s *Secrets) readValues(values json.RawMessage) []*yaml.Node {
	if len(values) == 0 {
		return nil
	}
	root, err := tree.FromJSON(values)
	if err == nil {
		return []*yaml.Node{root}
	}
	roots, errYAML := tree.FromYAML(string(values))
	if errYAML != nil {
		s.missed(err)
		s.missed(errYAML)
		return nil
	}
	return roots
}

// plainData are keys of Secrets whose values are masked in the Secret itself, but
// are too common to be masked in other texts.
var plainData = []string{"username", "user", "host", "hostname", "port", "database", "dbname", "db", "namespace", "name", "email", "region", "bucket", "type"}

// collect adds the secrets of a tree to the known ones.
func (s *Secrets) collect(root *yaml.Node, at place) {
	w := walker{label: func(key *yaml.Node, _ string) { s.known.public.add(key.Value) }, stopped: s.stopped}
	w.leaf = func(node *yaml.Node, at place) {
		if hidden(node, at) {
			value := decoded(node, at)
			if at.level != sealed || !slices.Contains(plainData, letters(at.key)) {
				s.find(value, s.masker.token(at.path, typed(node, value)))
			}
			s.collectParts(at.path, value)
			return
		}
		s.known.public.addLeaf(node, at)
		s.collectParts(at.path, node.Value)
	}
	w.walk(root, at)
}

func (s *Secrets) stopped() bool { return s.Err() != nil }

func (s *Secrets) collectParts(path, value string) {
	for _, part := range find(value, announcesSecret) {
		piece := value[part.start:part.end]
		s.find(piece, s.masker.token(path, piece))
	}
}

// hidden reports whether a scalar is secret as a whole.
func hidden(node *yaml.Node, at place) bool {
	switch {
	case at.level == open || node.Value == "" || node.Tag == tree.Null:
		return false
	case at.level == sealed:
		return true
	case node.Tag == tree.Bool:
		return false
	case at.declared:
		return true
	case at.level == unsure:
		return looksRandom(node.Value)
	case at.item:
		return !namesListed(at.key, node.Value) && !isReferenceTo(node.Value)
	}
	return !describes(at.key, node.Value, at.refers)
}

// decoded returns a scalar's value, decoded from base64 if it is in a Secret.
func decoded(node *yaml.Node, at place) string {
	if at.base64 {
		if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(node.Value), "")); err == nil {
			return string(plain)
		}
	}
	return node.Value
}

// typed returns a value in a form that is different for a number and a text with
// the same digits.
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

// maskBut is mask for a tree in which the scalars in done are already masked.
func (s *Secrets) maskBut(done map[*yaml.Node]bool, root *yaml.Node, at place) bool {
	changed := false
	w := walker{stopped: s.stopped}
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

// scalar returns the text shown for a value.
func (s *Secrets) scalar(node *yaml.Node, at place) string {
	if hidden(node, at) && !tokens.MatchString(node.Value) {
		return s.masker.token(at.path, typed(node, decoded(node, at)))
	}
	return s.mend(at.path, node.Value, s.known.find(node.Value), find(node.Value, assignsSecret))
}

// comments masks the comments of a tree, which may quote anything.
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

func noName(string, string) bool { return false }

// mend replaces parts of a text by tokens: known parts by their tokens, others by new
// tokens. Overlapping parts become one.
func (s *Secrets) mend(path, text string, known, others []part) string {
	return s.mendEach(path, text, known, others, func(string, string) {})
}

// mendEach is like mend, and also calls each with every replaced part and its token.
func (s *Secrets) mendEach(path, text string, known, others []part, each func(piece, token string)) string {
	all := slices.Concat(known, others)
	if len(all) == 0 {
		return text
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var out strings.Builder
	last := 0
	for i := 0; i < len(all); {
		one, token := all[i].span, ""
		for ; i < len(all) && (all[i].start < one.end || all[i].span == one); i++ {
			one.end = max(one.end, all[i].end)
			token = cmp.Or(token, all[i].token)
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

// Text masks text for people, such as notes: the known secrets, and the parts that are
// secret by their form.
func (s *Secrets) Text(text string) string {
	if text != "" && s.Err() != nil {
		return notShown
	}
	return s.mend("", text, s.known.find(text), find(text, announcesSecret))
}

// Line masks one line of a log as Text does. It takes microseconds, so it can be
// called for every line.
func (s *Secrets) Line(line string) string { return s.Text(line) }

package mask

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Record returns a copy of a record with all secrets masked, including Raw, so
// that the whole record may be shown. The secrets should have been collected from
// this record too. The error wraps decoder.ErrNotRecord if secrets cannot be
// found in a part because of its type, and decoder.ErrTooLarge if masking needs
// too much memory.
func (s *Secrets) Record(record *decoder.Record) (*decoder.Record, error) {
	masked := *record
	masked.Description = s.Text(record.Description)
	masked.Notes = s.Text(record.Notes)
	masked.Manifest = s.Manifest(record.Manifest)
	masked.Hooks = make([]decoder.Hook, len(record.Hooks))
	for i, hook := range record.Hooks {
		hook.Manifest = s.Manifest(hook.Manifest)
		masked.Hooks[i] = hook
	}
	schema := Schema(record)
	var errs [4]error
	masked.Config, errs[0] = s.Values(record.Config, schema)
	masked.ChartValues, errs[1] = s.Values(record.ChartValues, schema)
	masked.Metadata, errs[2] = s.metadata(record.Metadata)
	masked.Raw, errs[3] = s.raw(record, &masked, schema)
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("mask the record: %w", err)
	}
	for _, err := range errs {
		if errors.Is(err, decoder.ErrTooLarge) {
			return nil, fmt.Errorf("mask the record: %w", err)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: mask the record: %w", decoder.ErrNotRecord, err)
		}
	}
	return &masked, nil
}

func (s *Secrets) metadata(metadata *chart.Metadata) (*chart.Metadata, error) {
	if metadata == nil {
		return nil, nil
	}
	plain, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	hidden, err := s.Values(plain, nil)
	if err != nil {
		return nil, err
	}
	var masked chart.Metadata
	return &masked, json.Unmarshal(hidden, &masked)
}

// raw masks the whole record. masked has the parts that are already masked.
// Unknown fields are masked like values.
func (s *Secrets) raw(record, masked *decoder.Record, schema []byte) (json.RawMessage, error) {
	root, err := tree.FromJSON(record.Raw)
	if err != nil {
		return nil, tooLarge(err)
	}
	for _, values := range append(fields(root, "config"), fields(root, "chart", "values")...) {
		s.mask(values, place{schemas: newSchemas(schema)})
	}
	done := map[*yaml.Node]bool{}
	text := func(nodes []*yaml.Node, mask func(string) string) {
		for _, node := range nodes {
			if node.Tag == tree.String {
				node.Value, done[node] = mask(node.Value), true
			}
		}
	}
	text(fields(root, "manifest"), func(string) string { return masked.Manifest })
	text(fields(root, "hooks", "manifest"), s.Manifest)
	text(fields(root, "info", "notes"), s.Text)
	text(fields(root, "info", "description"), s.Text)
	text(fields(root, "chart", "schema"), s.packed(s.schema))
	text(fields(root, "chart", "templates", "data"), s.packed(s.file))
	text(fields(root, "chart", "files", "data"), s.packed(s.file))
	s.maskBut(done, root, place{})
	return s.json(root)
}

// fields returns the nodes at a path of keys, in every item of lists on the way. Helm
// ignores the case of keys in its records.
func fields(node *yaml.Node, path ...string) []*yaml.Node {
	if len(path) == 0 {
		return []*yaml.Node{node}
	}
	var found []*yaml.Node
	for _, item := range items(node) {
		found = append(found, fields(item, path...)...)
	}
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if strings.EqualFold(node.Content[i].Value, path[0]) {
			value := node.Content[i+1]
			if len(path) == 1 {
				found = append(found, value)
				continue
			}
			found = append(found, fields(value, path[1:]...)...)
		}
	}
	return found
}

// packed applies mask to text in base64.
func (s *Secrets) packed(mask func(string) string) func(string) string {
	return func(text string) string {
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return s.Text(text)
		}
		return base64.StdEncoding.EncodeToString([]byte(mask(string(plain))))
	}
}

// file masks a template or another file of the chart.
func (s *Secrets) file(text string) string {
	if text != "" && s.Err() != nil {
		return notShown
	}
	return s.mend("", text, s.known.find(text), find(text, assignsSecret))
}

// Schema masks a chart's JSON schema: the defaults and examples of secret
// values. An invalid one is masked as text.
func (s *Secrets) Schema(schema []byte) []byte { return []byte(s.schema(string(schema))) }

func (s *Secrets) schema(text string) string {
	root, err := tree.FromJSON([]byte(text))
	if err != nil {
		return s.file(text)
	}
	changed := false
	s.eachSample(root, "", open, func(node *yaml.Node, at place) { changed = s.mask(node, at) || changed })
	if !changed {
		return s.mend("", text, s.known.exact(text), find(text, noName))
	}
	masked, err := s.json(root)
	if err != nil {
		return s.file(text)
	}
	return s.mend("", string(masked), s.known.exact(string(masked)), find(string(masked), noName))
}

// eachSample visits the values that a schema itself contains.
func (s *Secrets) eachSample(root *yaml.Node, path string, l level, visit func(*yaml.Node, place)) {
	eachSample(newSchemaIndex(), root, path, l, func(node *yaml.Node, at place) {
		if !s.stopped() {
			visit(node, at)
		}
	})
}

func eachSample(index *schemaIndex, schema *yaml.Node, path string, l level, visit func(*yaml.Node, place)) {
	if schema.Kind != yaml.MappingNode {
		return
	}
	here := schemas{root: schema, index: index}
	here.add(schema)
	if here.secret() {
		l = secret
	}
	for i := 0; i+1 < len(schema.Content); i += 2 {
		key, value := schema.Content[i].Value, schema.Content[i+1]
		switch key {
		case "default", "const", "examples", "enum":
			visit(value, place{path: path, level: l})
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			for j := 0; value.Kind == yaml.MappingNode && j+1 < len(value.Content); j += 2 {
				inner, name := l, value.Content[j].Value
				if namesSecret(name) {
					inner = secret
				}
				eachSample(index, value.Content[j+1], tree.Join(path, name), inner, visit)
			}
		default:
			eachSample(index, value, path, l, visit)
			for _, one := range items(value) {
				eachSample(index, one, path, l, visit)
			}
		}
	}
}

func items(node *yaml.Node) []*yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

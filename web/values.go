package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// mergeValues merges the object into the YAML like helm merges one values file
// into another: it merges mappings; any other value, including null, replaces the
// present one. The result is YAML in which numbers keep all their digits. YAML
// without an object is returned unchanged. No error quotes a value.
func mergeValues(object json.RawMessage, text string) ([]byte, error) {
	over, err := decodeObject(object)
	if err != nil {
		return nil, httpapi.BadField("values", "values must be an object.")
	}
	base, err := decodeYAML(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(over) == 0 && strings.TrimSpace(text) == "":
		return nil, nil
	case len(over) == 0:
		return []byte(text), nil
	case base == nil:
		return encodeYAML(over)
	}
	return encodeYAML(overlay(base, over))
}

// overlay merges over into base and returns base.
func overlay(base, over map[string]any) map[string]any {
	for key, value := range over {
		inner, isMap := value.(map[string]any)
		below, wasMap := base[key].(map[string]any)
		if isMap && wasMap {
			value = overlay(below, inner)
		}
		base[key] = value
	}
	return base
}

// decodeObject decodes an object with numbers as text. It returns nil for no data.
func decodeObject(data []byte) (map[string]any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return object, nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// decodeYAML decodes values like helm, which converts them to JSON. Its errors
// only name the line, because the parser's errors may quote the text.
func decodeYAML(text string) (map[string]any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		if line := yamlLine.FindStringSubmatch(err.Error()); line != nil {
			return nil, httpapi.BadField("valuesYAML", "valuesYAML is not valid YAML at line "+line[1]+".")
		}
		return nil, httpapi.BadField("valuesYAML", "valuesYAML is not valid YAML.")
	}
	object, err := decodeObject(data)
	if err != nil {
		return nil, httpapi.BadField("valuesYAML", "valuesYAML must be a mapping.")
	}
	return object, nil
}

// encodeYAML encodes values as JSON that every YAML parser can read: it escapes
// the characters that YAML does not allow. All others must stay unescaped,
// because an escaped surrogate pair is not valid YAML.
func encodeYAML(values map[string]any) ([]byte, error) {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(values); err != nil {
		return nil, fmt.Errorf("encode values: %w", err)
	}
	escaped := make([]byte, 0, plain.Len())
	for _, r := range strings.TrimSuffix(plain.String(), "\n") {
		if r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
			continue
		}
		escaped = utf8.AppendRune(escaped, r)
	}
	return escaped, nil
}

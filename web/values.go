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

// mergeValues lays the object over the YAML, as helm lays one values file over
// another: mappings are merged, everything else replaces, null included. The
// result is YAML; numbers keep every digit that helm would see. YAML alone is
// passed on as it was written. No error quotes a value.
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

// overlay changes base.
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

// decodeObject decodes an object, or nothing, and keeps numbers as text.
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

// decodeYAML decodes values as helm does, by way of JSON. Its errors name the
// line only, since the parser's may quote what stands there.
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

// encodeYAML writes values as JSON that every YAML parser reads: characters
// that YAML does not allow as such are escaped. Go itself writes all others as
// they are, while an escaped pair of surrogates would be no valid YAML.
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

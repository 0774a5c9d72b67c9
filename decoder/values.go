package decoder

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MergedValues returns the values with which the revision was rendered, as
// `helm get values --all` prints them: the user's values merged over the
// chart's. Keys are sorted and every digit is preserved. A null in the user's
// values removes the chart's value. The effect of nulls in the chart's own
// values depends on the version of Helm that wrote the record.
func MergedValues(record *Record) (json.RawMessage, error) {
	values, err := valuesObject(record.Config)
	if err != nil {
		return nil, fmt.Errorf("merge values: user-supplied: %w", err)
	}
	defaults, err := valuesObject(record.ChartValues)
	if err != nil {
		return nil, fmt.Errorf("merge values: chart: %w", err)
	}
	// Helm 4 drops the chart's nulls (pkg/chart/common/util/coalesce.go), Helm 3
	// keeps them (pkg/chartutil/coalesce.go).
	if record.ApplyMethod != "" {
		dropNulls(values, defaults)
	}
	for key, value := range values {
		if _, exists := defaults[key]; exists && value == nil {
			delete(values, key)
			delete(defaults, key)
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(coalesce(values, defaults)); err != nil {
		return nil, fmt.Errorf("merge values: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// valuesObject decodes values and keeps numbers as text. Its errors quote no
// content.
func valuesObject(values json.RawMessage) (map[string]any, error) {
	object := map[string]any{}
	if len(values) == 0 {
		return object, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(values))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return nil, fmt.Errorf("%w: the values are no mapping", ErrNotRecord)
	}
	if object == nil {
		object = map[string]any{}
	}
	return object, nil
}

// coalesce merges over into base, which it changes. A null in over removes the
// value in base, but stays if base has no such value.
func coalesce(over, base map[string]any) map[string]any {
	for key, value := range over {
		inner, isObject := value.(map[string]any)
		below, belowIsObject := base[key].(map[string]any)
		switch {
		case value == nil && base[key] != nil:
			delete(base, key)
		case isObject && belowIsObject:
			base[key] = coalesce(inner, below)
		default:
			base[key] = value
		}
	}
	return base
}

// dropNulls removes the nulls of a chart's defaults, and the user's nulls for
// the same top-level keys.
func dropNulls(values, defaults map[string]any) {
	for key, value := range defaults {
		if inner, ok := value.(map[string]any); ok {
			dropNulls(nil, inner)
			continue
		}
		if value == nil {
			delete(defaults, key)
			if given, ok := values[key]; ok && given == nil {
				delete(values, key)
			}
		}
	}
}

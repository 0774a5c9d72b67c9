package decoder

import (
	"encoding/json"
	"errors"
)

// Chart is the part of a chart that its record keeps, without the contents of
// files. Records do not hold subcharts.
type Chart struct {
	// Metadata is the chart's own metadata, including unknown fields; null if the
	// record has no metadata.
	Metadata json.RawMessage `json:"metadata"`
	// Values are the chart's default values with every digit preserved.
	Values json.RawMessage `json:"values"`
	// Schema is the JSON schema of the values; null if there is no schema.
	Schema json.RawMessage `json:"schema"`
	// Lock names the dependencies and their resolved versions.
	Lock json.RawMessage `json:"lock"`
	// Templates and Files are the names of the chart's files.
	Templates []string `json:"templates"`
	Files     []string `json:"files"`
}

// ReadChart reads the chart from a record. The error wraps ErrNotRecord and
// quotes no content.
func ReadChart(record *Record) (*Chart, error) {
	type file struct {
		Name string `json:"name"`
	}
	var raw struct {
		Chart struct {
			Metadata  json.RawMessage `json:"metadata"`
			Lock      json.RawMessage `json:"lock"`
			Schema    []byte          `json:"schema"`
			Templates []file          `json:"templates"`
			Files     []file          `json:"files"`
		} `json:"chart"`
	}
	if json.Unmarshal(record.Raw, &raw) != nil {
		return nil, errors.Join(ErrNotRecord, errors.New("the chart has another shape"))
	}
	names := func(files []file) []string {
		list := make([]string, 0, len(files))
		for _, f := range files {
			list = append(list, f.Name)
		}
		return list
	}
	chart := &Chart{
		Metadata: raw.Chart.Metadata, Values: record.ChartValues, Lock: raw.Chart.Lock,
		Templates: names(raw.Chart.Templates), Files: names(raw.Chart.Files),
	}
	if json.Valid(raw.Chart.Schema) {
		chart.Schema = raw.Chart.Schema
	}
	return chart, nil
}

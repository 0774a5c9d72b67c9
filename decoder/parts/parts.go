// Package parts writes the parts of a record as `helm get` prints them, and those
// that it does not have. Numbers keep every digit. What must not be seen has to
// be masked before. The package is pure; its functions may be called
// concurrently.
package parts

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Name is one part of a record.
type Name string

const (
	// Values are the user-supplied values, or all that were merged.
	Values Name = "values"
	// Manifest is the manifest without hooks.
	Manifest Name = "manifest"
	// Hooks are the manifests of the hooks.
	Hooks Name = "hooks"
	// Notes are the chart's notes.
	Notes Name = "notes"
	// Metadata is what `helm get metadata` tells.
	Metadata Name = "metadata"
	// Chart is what the record keeps of its chart.
	Chart Name = "chart"
	// Raw is the whole record.
	Raw Name = "raw"
)

// Format is a form in which a part can be written.
type Format string

const (
	// JSON is one line.
	JSON Format = "json"
	// YAML is a document, or several for manifests.
	YAML Format = "yaml"
	// Text is what people read.
	Text Format = "text"
)

var (
	// ErrFormat means that the part cannot be written in that format.
	ErrFormat = errors.New("the part has no such format")
	// ErrNotYAML means that a manifest is no valid YAML, and therefore can be
	// written as text only.
	ErrNotYAML = errors.New("the manifest is no valid YAML")
)

// Formats are those of every part, the usual one first.
var Formats = map[Name][]Format{
	Values:   {YAML, JSON, Text},
	Manifest: {Text, YAML, JSON},
	Hooks:    {Text, YAML, JSON},
	Notes:    {Text, JSON},
	Metadata: {Text, JSON, YAML},
	Chart:    {YAML, JSON},
	Raw:      {JSON, YAML},
}

// Options choose how a part is written.
type Options struct {
	As Format
	// All writes the values that the chart was rendered with.
	All bool
}

// Write returns a part of a record. JSON comes without a line break at its end.
// It fails with ErrFormat, ErrNotYAML, or with an error that wraps
// decoder.ErrNotRecord when the part has another shape; none quotes anything.
func Write(record *decoder.Record, part Name, o Options) ([]byte, error) {
	switch part {
	case Values:
		return writeValues(record, o)
	case Manifest:
		if o.As != JSON {
			return []byte(record.Manifest + "\n"), nil
		}
		return objects(record.Manifest)
	case Hooks:
		if o.As != JSON {
			return []byte(HooksText(record.Hooks)), nil
		}
		return json.Marshal(hooks(record))
	case Notes:
		return writeNotes(record, o.As)
	case Metadata:
		if o.As == Text {
			return metadata(record).text(), nil
		}
		return value(metadata(record), o.As)
	case Chart:
		chart, err := decoder.ReadChart(record)
		if err != nil {
			return nil, err
		}
		return value(chart, o.As)
	case Raw:
		return data(record.Raw, o.As)
	}
	return nil, fmt.Errorf("part %q: %w", part, ErrFormat)
}

func writeValues(record *decoder.Record, o Options) ([]byte, error) {
	values, title := record.Config, "USER-SUPPLIED VALUES:\n"
	if o.All {
		title = "COMPUTED VALUES:\n"
		var err error
		if values, err = decoder.MergedValues(record); err != nil {
			return nil, err
		}
	}
	if len(values) == 0 {
		values = json.RawMessage("null")
	}
	if o.As != Text {
		return data(values, o.As)
	}
	text, err := data(values, YAML)
	return append([]byte(title), text...), err
}

func writeNotes(record *decoder.Record, as Format) ([]byte, error) {
	switch {
	case as == YAML:
		return nil, ErrFormat
	case as == JSON:
		return json.Marshal(struct {
			Notes string `json:"notes"`
		}{record.Notes})
	case record.Notes == "":
		return nil, nil
	}
	return []byte("NOTES:\n" + record.Notes + "\n"), nil
}

// HooksText is the hooks' manifests in the form of `helm get hooks`.
func HooksText(hooks []decoder.Hook) string {
	var text strings.Builder
	for _, h := range hooks {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return text.String()
}

// objects is a manifest's documents as a JSON array.
func objects(manifest string) ([]byte, error) {
	documents, err := tree.FromYAML(manifest)
	if err != nil {
		return nil, ErrNotYAML
	}
	found := []json.RawMessage{}
	for _, document := range documents {
		object, err := tree.Object(document)
		if err != nil {
			return nil, ErrNotYAML
		}
		if string(object) != "null" {
			found = append(found, object)
		}
	}
	return json.Marshal(found)
}

// value writes v as JSON or YAML.
func value(v any, as Format) ([]byte, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return data(encoded, as)
}

// data writes JSON as it is, or as YAML.
func data(encoded json.RawMessage, as Format) ([]byte, error) {
	switch as {
	case JSON:
		return encoded, nil
	case YAML:
		root, err := tree.FromJSON(encoded)
		if err != nil {
			return nil, err
		}
		text, err := tree.YAML(root)
		return []byte(text), err
	}
	return nil, ErrFormat
}

// deployedAt is how Helm writes when a revision was deployed.
func deployedAt(record *decoder.Record) string { return record.LastDeployed.Format(time.RFC3339) }

// Package parts writes the parts of a record as `helm get` prints them, and some
// that helm does not print. Numbers keep every digit. Secrets must be masked
// before. The package is pure; its functions may be called concurrently.
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
	// Values are the user-supplied values, or the merged ones.
	Values Name = "values"
	// Manifest is the manifest without hooks.
	Manifest Name = "manifest"
	// Hooks are the manifests of the hooks.
	Hooks Name = "hooks"
	// Notes are the chart's notes.
	Notes Name = "notes"
	// Metadata is the output of `helm get metadata`.
	Metadata Name = "metadata"
	// Chart is the part of the chart that the record keeps.
	Chart Name = "chart"
	// Raw is the whole record.
	Raw Name = "raw"
)

// Format is a format in which a part can be written.
type Format string

const (
	// JSON is one line.
	JSON Format = "json"
	// YAML is a document, or several for manifests.
	YAML Format = "yaml"
	// Text is for people.
	Text Format = "text"
)

var (
	// ErrFormat is returned for a format that the part does not have.
	ErrFormat = errors.New("the part has no such format")
	// ErrNotYAML is returned for a manifest that is not valid YAML and therefore
	// can only be written as text.
	ErrNotYAML = errors.New("the manifest is not valid YAML")
)

// Formats are the formats of every part, the default first.
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
	// All writes the merged values with which the chart was rendered.
	All bool
}

// Write returns a part of a record. JSON does not end in a line break. It fails
// with ErrFormat, ErrNotYAML, or with an error that wraps decoder.ErrNotRecord
// when the part has an unexpected shape, decoder.ErrTooLarge when it would take
// too much memory. The errors quote nothing.
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

// HooksText returns the hooks' manifests as `helm get hooks` prints them.
func HooksText(hooks []decoder.Hook) string {
	var text strings.Builder
	for _, h := range hooks {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return text.String()
}

// objects returns a manifest's documents as a JSON array.
func objects(manifest string) ([]byte, error) {
	found, size := []json.RawMessage{}, 0
	for _, chunk := range tree.Documents(manifest) {
		documents, err := tree.FromYAML(chunk)
		if err != nil {
			return nil, notYAML(err)
		}
		for _, document := range documents {
			object, err := tree.Object(document)
			if size += len(object); err == nil && size > tree.MaxText {
				err = tree.ErrTooLarge
			}
			if err != nil {
				return nil, notYAML(err)
			}
			if string(object) != "null" {
				found = append(found, object)
			}
		}
	}
	return json.Marshal(found)
}

// notYAML returns the error for a manifest that cannot be read, or is too large.
func notYAML(err error) error {
	if errors.Is(err, tree.ErrTooLarge) {
		return tooLarge(err)
	}
	return ErrNotYAML
}

// tooLarge returns err as an error of the decoder, if it is one of size.
func tooLarge(err error) error {
	if errors.Is(err, tree.ErrTooLarge) {
		return fmt.Errorf("%w: %w", decoder.ErrTooLarge, err)
	}
	return err
}

// value writes v as JSON or YAML.
func value(v any, as Format) ([]byte, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return data(encoded, as)
}

// data writes JSON unchanged, or as YAML.
func data(encoded json.RawMessage, as Format) ([]byte, error) {
	switch as {
	case JSON:
		return encoded, nil
	case YAML:
		root, err := tree.FromJSON(encoded)
		if err != nil {
			return nil, tooLarge(err)
		}
		text, err := tree.YAML(root)
		return []byte(text), tooLarge(err)
	}
	return nil, ErrFormat
}

// deployedAt returns the time of deployment as Helm writes it.
func deployedAt(record *decoder.Record) string { return record.LastDeployed.Format(time.RFC3339) }

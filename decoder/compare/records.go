package compare

import (
	"encoding/json"
	"fmt"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// Parts are the parts of records that can be compared, in display order.
var Parts = []parts.Name{parts.Values, parts.Manifest, parts.Hooks, parts.Notes, parts.Chart}

// RecordDifference holds the differences of two records. A part that was not
// compared is empty.
type RecordDifference struct {
	Values   []Value  `json:"values"`
	Manifest []Object `json:"manifest"`
	Hooks    []Object `json:"hooks"`
	// Notes is a unified diff.
	Notes string `json:"notes"`
	// Chart holds the differences of the charts' metadata.
	Chart []Value `json:"chart"`
}

// Identical reports whether nothing differs.
func (d *RecordDifference) Identical() bool {
	return len(d.Values)+len(d.Manifest)+len(d.Hooks)+len(d.Notes)+len(d.Chart) == 0
}

// Records compares some parts of two records. If all is set it compares the
// merged values instead of the user-supplied ones. The errors quote nothing.
func Records(from, to *decoder.Record, compared []parts.Name, all bool) (*RecordDifference, error) {
	d := &RecordDifference{Values: []Value{}, Manifest: []Object{}, Hooks: []Object{}, Chart: []Value{}}
	for _, part := range compared {
		var err error
		switch part {
		case parts.Values:
			d.Values, err = recordValues(from, to, all)
		case parts.Manifest:
			d.Manifest, err = Objects(manifestOf(from, from.Manifest), manifestOf(to, to.Manifest))
		case parts.Hooks:
			d.Hooks, err = Objects(manifestOf(from, parts.HooksText(from.Hooks)), manifestOf(to, parts.HooksText(to.Hooks)))
		case parts.Notes:
			d.Notes = Text(from.Notes, to.Notes)
		case parts.Chart:
			d.Chart, err = charts(from, to)
		default:
			err = fmt.Errorf("%s cannot be compared", part)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func manifestOf(record *decoder.Record, text string) Manifest {
	return Manifest{Text: text, Namespace: record.SecretNamespace}
}

func recordValues(from, to *decoder.Record, all bool) ([]Value, error) {
	if !all {
		return Values(from.Config, to.Config)
	}
	before, err := decoder.MergedValues(from)
	if err != nil {
		return nil, err
	}
	after, err := decoder.MergedValues(to)
	if err != nil {
		return nil, err
	}
	return Values(before, after)
}

func charts(from, to *decoder.Record) ([]Value, error) {
	var metadata [2]json.RawMessage
	for i, record := range []*decoder.Record{from, to} {
		chart, err := decoder.ReadChart(record)
		if err != nil {
			return nil, err
		}
		metadata[i] = chart.Metadata
	}
	return Values(metadata[0], metadata[1])
}

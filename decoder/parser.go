package decoder

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// fields is a set of a record's fields.
type fields uint32

const (
	fieldName fields = 1 << iota
	fieldInfo
	fieldChart
	fieldConfig
	fieldManifest
	fieldHooks
	fieldVersion
	fieldNamespace
	fieldApplyMethod
	fieldFirstDeployed
	fieldLastDeployed
	fieldDeleted
	fieldDescription
	fieldStatus
	fieldRollbackRevision
	fieldNotes
	fieldMetadata
	fieldChartValues
	fieldChartName
	fieldChartVersion
	fieldAppVersion
	// infoDone and chartDone mean that this part of the record holds no further
	// header fields.
	infoDone
	chartDone
	// theEnd is never seen, so a parser that wants it reads the complete record.
	theEnd

	metadataFields = fieldChartName | fieldChartVersion | fieldAppVersion
	headerFields   = fieldName | infoDone | chartDone
)

// parser reads one record with its scanner.
type parser struct {
	scanner
	want, seen                  fields
	descriptionLimit, nameLimit int

	header  *Header
	version int
	// record is nil if only the header is read.
	record *Record

	// text holds all the header's texts in sequence, so that they become one
	// string. spans maps each field to its text.
	text  []byte
	spans []span
	// scratch holds one other text at a time.
	scratch []byte
	window  [firstWindow]byte
}

// span is the position of a field's value in a parser's text.
type span struct {
	field      *string
	start, end int
}

// parsers pools parsers for their buffers.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// release returns the parser to the pool, without references to decoded data
// and without a buffer grown by one huge record.
func (p *parser) release() {
	const keep = 64 << 10
	if cap(p.scratch) > keep {
		p.scratch = nil
	}
	if cap(p.text) > keep {
		p.text = nil
	}
	clear(p.spans)
	p.scanner = scanner{key: p.key}
	p.seen, p.version, p.header, p.record = 0, 0, nil, nil
	p.text, p.spans = p.text[:0], p.spans[:0]
	parsers.Put(p)
}

// parse reads the record until it has seen all wanted fields.
func (p *parser) parse() (*Header, error) {
	p.header = &Header{}
	for ok := p.enter("the record"); ok; ok = p.more() {
		switch string(p.key) {
		case "name":
			p.headerText(fieldName, &p.header.Name, p.nameLimit, "name")
		case "info":
			p.info()
		case "chart":
			p.chart()
		case "version":
			p.integer(fieldVersion, &p.version, "version")
		default:
			p.rest()
		}
	}
	if p.err == nil && p.seen&infoDone == 0 {
		p.err = fmt.Errorf("%w: it has no info", ErrNotRecord)
	}
	if p.err != nil {
		return nil, p.err
	}
	text := string(p.text)
	for _, s := range p.spans {
		*s.field = text[s.start:s.end]
	}
	return p.header, nil
}

// more moves to the next member of an object, unless all wanted fields of the
// record have been seen.
func (p *parser) more() bool { return p.seen&p.want != p.want && p.next() }

func (p *parser) info() {
	if !p.first(fieldInfo) || p.null() {
		return
	}
	h := p.header
	for ok := p.enter("info"); ok; ok = p.more() {
		switch string(p.key) {
		case "first_deployed":
			p.instant(fieldFirstDeployed, &h.FirstDeployed, "info.first_deployed")
		case "last_deployed":
			p.instant(fieldLastDeployed, &h.LastDeployed, "info.last_deployed")
		case "deleted":
			p.instant(fieldDeleted, &h.Deleted, "info.deleted")
		case "description":
			p.headerText(fieldDescription, &h.Description, p.descriptionLimit, "info.description")
		case "status":
			p.headerText(fieldStatus, (*string)(&h.Status), p.nameLimit, "info.status")
		case "rollback_revision":
			p.integer(fieldRollbackRevision, &h.RollbackRevision, "info.rollback_revision")
		default:
			p.restOfInfo()
		}
	}
	p.seen |= infoDone
}

func (p *parser) chart() {
	if !p.first(fieldChart) {
		return
	}
	for ok := p.enter("chart"); ok; ok = p.more() {
		if string(p.key) == "metadata" {
			p.metadata()
		} else {
			p.restOfChart()
		}
	}
	p.seen |= chartDone
}

func (p *parser) metadata() {
	if !p.first(fieldMetadata) {
		return
	}
	h := p.header
	p.peek()
	start := p.pos
	for ok := p.enter("chart.metadata"); ok; ok = p.more() {
		switch string(p.key) {
		case "name":
			p.headerText(fieldChartName, &h.Chart, p.nameLimit, "chart.metadata.name")
		case "version":
			p.headerText(fieldChartVersion, &h.ChartVersion, p.nameLimit, "chart.metadata.version")
		case "appversion":
			p.headerText(fieldAppVersion, &h.AppVersion, p.nameLimit, "chart.metadata.appVersion")
		default:
			p.skip()
		}
		if p.seen&metadataFields == metadataFields {
			p.seen |= chartDone
		}
	}
	p.seen |= chartDone
	p.keepMetadata(start)
}

// first marks a field as seen. It rejects a record in which a field occurs
// twice, because readers would disagree about its value.
func (p *parser) first(field fields) bool {
	if p.seen&field != 0 {
		p.malformed("a field stands twice")
		return false
	}
	p.seen |= field
	return true
}

// headerText reads a text of the header. A null counts as an absent field.
func (p *parser) headerText(field fields, to *string, limit int, what string) {
	if !p.first(field) || p.null() {
		return
	}
	start := len(p.text)
	p.text = p.str(p.text, limit, what)
	p.spans = append(p.spans, span{field: to, start: start, end: len(p.text)})
}

// instant reads a time and converts it to UTC. Helm 3 writes an empty string
// for a missing time.
func (p *parser) instant(field fields, to *time.Time, what string) {
	if !p.first(field) || p.null() {
		return
	}
	p.scratch = p.str(p.scratch[:0], nameLimit, what)
	if len(p.scratch) == 0 {
		return
	}
	var t time.Time
	if t.UnmarshalText(p.scratch) != nil {
		p.malformed(what + " is not a time")
		return
	}
	*to = t.UTC()
}

func (p *parser) integer(field fields, to *int, what string) {
	if !p.first(field) || p.null() {
		return
	}
	p.scratch = p.number(p.scratch[:0], nameLimit, what)
	n, err := strconv.Atoi(string(p.scratch))
	if err != nil {
		p.malformed(what + " is not a whole number")
		return
	}
	*to = n
}

package decoder

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// DecodeRecord reads a whole record. data is the value of the Secret's
// `release` key as the API gives it, that is, still in Helm's own base64. All
// of it is checked: the compression to its checksum, the JSON to its end, and
// that no field of the Record stands twice.
//
// The error wraps ErrNotRecord or ErrTooLarge and holds nothing of the content.
// The record keeps no reference to data.
func DecodeRecord(data []byte, limits Limits) (*Record, error) {
	limits = limits.withDefaults()
	raw, err := unpack(data, limits.Inflated)
	if err != nil {
		return nil, fmt.Errorf("decode release record: %w", err)
	}
	p := parsers.Get().(*parser)
	defer p.release()
	p.buf, p.end = raw, len(raw)
	p.depth, p.nodes = limits.Depth, limits.Nodes
	p.descriptionLimit, p.nameLimit = keepAll, keepAll
	p.want = theEnd
	record := &Record{Raw: raw}
	p.record = record
	header, err := p.parse()
	if err == nil && len(bytes.TrimLeft(raw[p.pos:], " \t\r\n")) > 0 {
		err = fmt.Errorf("%w: something follows the record at byte %d", ErrNotRecord, p.pos)
	}
	if err != nil {
		return nil, fmt.Errorf("decode release record: %w", err)
	}
	record.Header, record.Version = *header, p.version
	return record, nil
}

// rest reads one of the fields behind those of the header.
func (p *parser) rest() {
	r := p.record
	if r == nil {
		p.skip()
		return
	}
	switch string(p.key) {
	case "config":
		p.raw(fieldConfig, &r.Config)
	case "manifest":
		p.recordText(fieldManifest, &r.Manifest, "manifest")
	case "hooks":
		var hooks json.RawMessage
		p.raw(fieldHooks, &hooks)
		p.unmarshal(hooks, &r.Hooks, "hooks")
	case "namespace":
		p.recordText(fieldNamespace, &r.Namespace, "namespace")
	case "apply_method":
		p.recordText(fieldApplyMethod, &r.ApplyMethod, "apply_method")
	default:
		p.skip()
	}
}

func (p *parser) restOfInfo() {
	if p.record != nil && string(p.key) == "notes" {
		p.recordText(fieldNotes, &p.record.Notes, "info.notes")
		return
	}
	p.skip()
}

func (p *parser) restOfChart() {
	if p.record != nil && string(p.key) == "values" {
		p.raw(fieldChartValues, &p.record.ChartValues)
		return
	}
	p.skip()
}

// keepMetadata gives the record the metadata that began at start.
func (p *parser) keepMetadata(start int) {
	if p.record != nil && p.err == nil {
		p.unmarshal(p.record.Raw[start:p.pos], &p.record.Metadata, "chart.metadata")
	}
}

func (p *parser) recordText(field fields, to *string, what string) {
	if !p.first(field) || p.null() {
		return
	}
	p.scratch = p.str(p.scratch[:0], keepAll, what)
	*to = string(p.scratch)
}

// raw keeps the JSON of one value. A null is as good as no field.
func (p *parser) raw(field fields, to *json.RawMessage) {
	if !p.first(field) || p.null() {
		return
	}
	start := p.pos
	p.skip()
	if p.err == nil {
		*to = p.record.Raw[start:p.pos:p.pos]
	}
}

// unmarshal reads one small part with encoding/json, whose own errors may quote
// the content and are dropped.
func (p *parser) unmarshal(part json.RawMessage, to any, what string) {
	if p.err == nil && len(part) > 0 && json.Unmarshal(part, to) != nil {
		p.malformed(what + " has another shape")
	}
}

// packed is what unpack needs besides its result.
type packed struct {
	bytes  []byte
	reader bytes.Reader
	gzip   gzip.Reader
}

// packeds are kept for their buffers and the inflater's tables.
var packeds = sync.Pool{New: func() any { return &packed{} }}

// release gives p back, without a buffer larger than what fits into a Secret.
func (p *packed) release() {
	const keep = 1 << 20
	p.reader.Reset(nil)
	if cap(p.bytes) > keep {
		p.bytes = nil
	}
	packeds.Put(p)
}

// unpack returns the JSON of a record.
func unpack(data []byte, limit int) ([]byte, error) {
	p := packeds.Get().(*packed)
	defer p.release()
	if need := base64.StdEncoding.DecodedLen(len(data)); cap(p.bytes) < need {
		p.bytes = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(p.bytes[:cap(p.bytes)], data)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64", ErrNotRecord)
	}
	content := p.bytes[:n]
	if n <= len(gzipMagic) || !bytes.HasPrefix(content, gzipMagic) {
		if n > limit {
			return nil, fmt.Errorf("%w: more than %d bytes of JSON", ErrTooLarge, limit)
		}
		return bytes.Clone(content), nil
	}
	p.reader.Reset(content)
	if p.gzip.Reset(&p.reader) != nil {
		return nil, fmt.Errorf("%w: broken compression header", ErrNotRecord)
	}
	return inflate(&p.gzip, inflatedSize(content, limit), limit)
}

// inflatedSize guesses how much is in content: what its last four bytes say, as
// far as deflate's best ratio and the limit make that possible.
func inflatedSize(content []byte, limit int) int {
	const bestRatio = 1032
	size := limit
	if len(content) >= 4 {
		size = int(binary.LittleEndian.Uint32(content[len(content)-4:]))
	}
	return min(size, len(content)*bestRatio, limit)
}

func inflate(r io.Reader, size, limit int) ([]byte, error) {
	// The spare byte lets the last Read meet the end without growing.
	out := make([]byte, 0, size+1)
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return nil, fmt.Errorf("%w: more than %d bytes of JSON", ErrTooLarge, limit)
		case errors.Is(err, io.EOF):
			return out[:len(out):len(out)], nil
		case err != nil:
			return nil, fmt.Errorf("%w: broken compression after %d bytes of JSON", ErrNotRecord, len(out))
		}
	}
}

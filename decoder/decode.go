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

// DecodeRecord decodes a complete record. data is the value of the Secret's
// `release` key as returned by the API, still in Helm's own base64.
// DecodeRecord verifies the checksum of the compressed data, reads the JSON to
// its end, and rejects a record in which a field of Record occurs twice.
//
// The error wraps ErrNotRecord or ErrTooLarge and contains no content. The
// record keeps no reference to data.
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

// rest reads one of the fields that follow the header's.
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

// keepMetadata stores the metadata that began at start in the record.
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

// raw keeps the JSON of one value. A null counts as an absent field.
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

// unmarshal decodes one small part with encoding/json. It drops the errors of
// encoding/json because they may quote content.
func (p *parser) unmarshal(part json.RawMessage, to any, what string) {
	if p.err == nil && len(part) > 0 && json.Unmarshal(part, to) != nil {
		p.malformed(what + " has another shape")
	}
}

// packed holds the buffers that reading a record reuses.
type packed struct {
	bytes  []byte
	reader bytes.Reader
	gzip   gzip.Reader
	chunk  [window]byte
}

// packeds pools the buffers and the tables of the inflater.
var packeds = sync.Pool{New: func() any { return &packed{} }}

// release returns p to the pool. It drops a buffer that is larger than a Secret
// can be.
func (p *packed) release() {
	const keep = 1 << 20
	p.reader.Reset(nil)
	if cap(p.bytes) > keep {
		p.bytes = nil
	}
	packeds.Put(p)
}

// open returns what data holds in base64, and a reader of the JSON in it. Both
// are valid until p is released.
func (p *packed) open(data []byte) (content []byte, r io.Reader, err error) {
	if need := base64.StdEncoding.DecodedLen(len(data)); cap(p.bytes) < need {
		p.bytes = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(p.bytes[:cap(p.bytes)], data)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: not base64", ErrNotRecord)
	}
	content = p.bytes[:n]
	p.reader.Reset(content)
	if !compressed(content) {
		return content, &p.reader, nil
	}
	if p.gzip.Reset(&p.reader) != nil {
		return nil, nil, fmt.Errorf("%w: broken compression header", ErrNotRecord)
	}
	return content, &p.gzip, nil
}

// compressed reports whether Helm takes a record's bytes for compressed ones.
func compressed(content []byte) bool {
	return len(content) > len(gzipMagic) && bytes.HasPrefix(content, gzipMagic)
}

// unpack returns the JSON of a record.
func unpack(data []byte, limit int) ([]byte, error) {
	p := packeds.Get().(*packed)
	defer p.release()
	content, r, err := p.open(data)
	if err != nil {
		return nil, err
	}
	if compressed(content) {
		return inflate(r, inflatedSize(content, limit), limit)
	}
	if len(content) > limit {
		return nil, tooManyBytes(limit)
	}
	return bytes.Clone(content), nil
}

func tooManyBytes(limit int) error {
	return fmt.Errorf("%w: more than %d bytes of JSON", ErrTooLarge, limit)
}

func brokenCompression(after int) error {
	return fmt.Errorf("%w: broken compression after %d bytes of JSON", ErrNotRecord, after)
}

// inflatedSize estimates the inflated size of content. It uses the size in the
// last four bytes, bounded by deflate's best ratio and the limit.
func inflatedSize(content []byte, limit int) int {
	const bestRatio = 1032
	size := limit
	if len(content) >= 4 {
		size = int(binary.LittleEndian.Uint32(content[len(content)-4:]))
	}
	return min(size, len(content)*bestRatio, limit)
}

func inflate(r io.Reader, size, limit int) ([]byte, error) {
	// The spare byte lets the last Read reach the end without growing the buffer.
	out := make([]byte, 0, size+1)
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return nil, tooManyBytes(limit)
		case errors.Is(err, io.EOF):
			return out[:len(out):len(out)], nil
		case err != nil:
			return nil, brokenCompression(len(out))
		}
	}
}

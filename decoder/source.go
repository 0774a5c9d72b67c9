package decoder

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// gzipMagic is the prefix of a compressed record. Records from before Helm
// compressed them lack it and are plain JSON
// (helm.sh/helm/v3/pkg/storage/driver/util.go, decodeRelease).
var gzipMagic = []byte{0x1f, 0x8b, 0x08}

const (
	// chunk is how many bytes are decoded from base64 at a time, about the
	// compressed size of the first window.
	chunk = 2 << 10
	// firstWindow is the number of inflated bytes in the first window. The
	// inflater stops only at the end of a window, and all further windows are 32
	// KiB. The first window holds the header of most charts.
	firstWindow = 4 << 10
	// window is the size of a window in the deflate format.
	window = 32 << 10
)

// unusedHistory fills the inflater's first window up to the last firstWindow
// bytes, as a preset dictionary. No stream written by Helm refers to it. A
// stream that refers to it yields zero bytes, which are not JSON.
var unusedHistory = make([]byte, window-firstWindow)

// source delivers the JSON of a record from the start. It decodes and inflates
// only the requested part.
type source struct {
	base64  base64Reader
	encoded *bufio.Reader // over base64
	inflate io.ReadCloser // over encoded
	json    io.Reader     // encoded or inflate
}

// sources pools sources because an inflater's window and tables are expensive
// to allocate.
var sources = sync.Pool{New: func() any {
	s := &source{}
	s.encoded = bufio.NewReaderSize(&s.base64, chunk)
	s.inflate = flate.NewReaderDict(s.encoded, unusedHistory)
	return s
}}

// open makes s read the record in data.
func (s *source) open(data []byte) error {
	s.base64.data, s.base64.err = data, nil
	s.encoded.Reset(&s.base64)
	s.json = s.encoded
	// Helm compares the magic only if the data is longer than the magic.
	front, _ := s.encoded.Peek(len(gzipMagic) + 1)
	if len(front) <= len(gzipMagic) || !bytes.HasPrefix(front, gzipMagic) {
		return nil
	}
	if err := skipGzipHeader(s.encoded); err != nil {
		return err
	}
	s.json = s.inflate
	return s.inflate.(flate.Resetter).Reset(s.encoded, unusedHistory)
}

// release returns the source to the pool, without the data.
func (s *source) release() {
	s.base64.data = nil
	sources.Put(s)
}

// Read fills p with further JSON.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.json.Read(p)
	if err != nil && s.base64.err != nil {
		err = s.base64.err
	}
	return n, err
}

// skipGzipHeader moves r past the header that precedes the compressed data in
// RFC 1952. Helm writes the shortest header, without optional fields.
func skipGzipHeader(r *bufio.Reader) error {
	const flagCRC, flagExtra, flagName, flagComment = 1 << 1, 1 << 2, 1 << 3, 1 << 4
	var flags byte
	fixed, err := r.Peek(10)
	if err == nil {
		flags = fixed[3]
		_, err = r.Discard(len(fixed))
	}
	if err == nil && flags&flagExtra != 0 {
		var size []byte
		if size, err = r.Peek(2); err == nil {
			_, err = r.Discard(2 + int(binary.LittleEndian.Uint16(size)))
		}
	}
	for _, flag := range [...]byte{flagName, flagComment} {
		for c := byte(1); err == nil && flags&flag != 0 && c != 0; {
			c, err = r.ReadByte()
		}
	}
	if err == nil && flags&flagCRC != 0 {
		_, err = r.Discard(2)
	}
	if err != nil {
		return fmt.Errorf("%w: broken compression header", ErrNotRecord)
	}
	return nil
}

// base64Reader decodes base64 as it is read. It skips line breaks.
type base64Reader struct {
	data   []byte
	err    error
	joined [chunk / 3 * 4]byte
}

// Read decodes as many whole groups of four characters as fit into p. p must
// hold at least three bytes.
func (r *base64Reader) Read(p []byte) (int, error) {
	for r.err == nil {
		if len(r.data) == 0 {
			r.err = io.EOF
			break
		}
		group := r.data[:min(len(p)/3*4, len(r.joined), len(r.data))]
		r.data = r.data[len(group):]
		if bytes.IndexByte(group, '\n') >= 0 || bytes.IndexByte(group, '\r') >= 0 {
			group = r.join(group)
		}
		n, err := base64.StdEncoding.Decode(p, group)
		padded := n < base64.StdEncoding.DecodedLen(len(group))
		if err != nil || padded && len(bytes.Trim(r.data, "\r\n")) > 0 {
			r.err = fmt.Errorf("%w: not base64", ErrNotRecord)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// join copies group without its line breaks and completes it from the data, so
// that groups of four characters stay whole.
func (r *base64Reader) join(group []byte) []byte {
	n := 0
	for i := 0; ; i++ {
		if i == len(group) {
			if n%4 == 0 || len(r.data) == 0 {
				return r.joined[:n]
			}
			group, r.data, i = r.data[:1], r.data[1:], 0
		}
		if c := group[i]; c != '\n' && c != '\r' {
			r.joined[n] = c
			n++
		}
	}
}

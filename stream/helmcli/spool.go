package helmcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/helmtrail/helmtrail/stream/backend"
)

// record is one line of helm's output in the spool: JSON and a line break.
type record struct {
	Time      time.Time `json:"t"`
	Text      string    `json:"l"`
	Truncated bool      `json:"x,omitempty"`
}

// appendRecord appends a line of helm's output in the spool's form.
func appendRecord(dst []byte, r record) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return dst, fmt.Errorf("write a line: %w", err)
	}
	return append(append(dst, data...), '\n'), nil
}

// spoolReader reads the spool of a supervisor that may still be writing it.
type spoolReader struct {
	file   *os.File
	buffer []byte
	filled int
	offset int64 // where the first byte of buffer stands in the file
}

// recordLimit exceeds the size of any record: a line of maxLine bytes, each
// escaped in JSON, and the other fields.
const recordLimit = 6*maxLine + 256

func openSpool(f folder, offset int64) (*spoolReader, error) {
	file, err := os.Open(f.path(spoolFile))
	if err != nil {
		return nil, fmt.Errorf("read helm's output: %w", err)
	}
	return &spoolReader{file: file, buffer: make([]byte, recordLimit), offset: offset}, nil
}

func (s *spoolReader) close() { _ = s.file.Close() } // it was only read

// read calls f with every complete line. A line that is still being written is
// left for the next call.
func (s *spoolReader) read(f func(backend.Line) error) error {
	for {
		n, err := s.file.ReadAt(s.buffer[s.filled:], s.offset+int64(s.filled))
		s.filled += n
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read helm's output: %w", err)
		}
		used := 0
		for {
			length := bytes.IndexByte(s.buffer[used:s.filled], '\n')
			if length < 0 {
				break
			}
			var r record
			if err := json.Unmarshal(s.buffer[used:used+length], &r); err != nil {
				return fmt.Errorf("read helm's output at byte %d of the spool: %w", s.offset+int64(used), err)
			}
			used += length + 1
			if err := f(backend.Line{Time: r.Time, Text: r.Text, Truncated: r.Truncated, Offset: s.offset + int64(used)}); err != nil {
				return err
			}
		}
		if used == 0 && s.filled == len(s.buffer) {
			return fmt.Errorf("read helm's output at byte %d of the spool: a record is longer than %d bytes", s.offset, recordLimit)
		}
		copy(s.buffer, s.buffer[used:s.filled])
		s.filled -= used
		s.offset += int64(used)
		if n == 0 || errors.Is(err, io.EOF) && used == 0 {
			return nil
		}
	}
}

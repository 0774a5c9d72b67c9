// Package streamtest reads streams of Server-Sent Events, for the tests of the
// engine and of everything that serves its events.
package streamtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/helmtrail/helmtrail"
)

// Frame is one frame of a stream.
type Frame struct{ ID, Event, Data string }

// Decode returns the session's event that the frame holds. It fails if the
// frame's fields are not those of the event.
func (f Frame) Decode() (helmtrail.Event, error) {
	var e helmtrail.Event
	if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
		return e, fmt.Errorf("decode the data of a frame %q: %w", f.Event, err)
	}
	id := ""
	if e.Seq > 0 {
		id = fmt.Sprintf("%s.%d", e.SessionID, e.Seq)
	}
	if f.ID != id || f.Event != string(e.Type) {
		return e, fmt.Errorf("the frame has id %q and event %q, want %q and %q", f.ID, f.Event, id, e.Type)
	}
	return e, nil
}

// Reader reads frames from a stream. It accepts only what helmtrail writes: the
// fields id, event, data and retry, each on one line.
type Reader struct{ lines *bufio.Reader }

// NewReader returns a Reader of the body of an answer.
func NewReader(body io.Reader) *Reader { return &Reader{bufio.NewReader(body)} }

// Next blocks until a whole frame has arrived and returns it. A frame that only
// sets the time of reconnection is skipped. It returns io.EOF at the end of the
// stream, and io.ErrUnexpectedEOF if the stream ends within a frame.
func (r *Reader) Next() (Frame, error) {
	var f Frame
	for begun := false; ; {
		line, err := r.lines.ReadString('\n')
		switch {
		case errors.Is(err, io.EOF) && (begun || line != ""):
			return f, io.ErrUnexpectedEOF
		case err != nil:
			return f, err
		case line == "\n":
			if f != (Frame{}) {
				return f, nil
			}
			begun = false
			continue
		}
		begun = true
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		field := map[string]*string{"id": &f.ID, "event": &f.Event, "data": &f.Data}[key]
		switch {
		case !ok || field == nil && key != "retry":
			return f, fmt.Errorf("not a field of a frame: %q", line)
		case field == nil:
		case *field != "":
			return f, fmt.Errorf("the field %s comes twice in a frame", key)
		default:
			*field = value
		}
	}
}

// Stored is Next without heartbeats, which are not stored.
func (r *Reader) Stored() (Frame, error) {
	for {
		f, err := r.Next()
		if err != nil || f.Event != string(helmtrail.TypeHeartbeat) {
			return f, err
		}
	}
}

// Parse returns the frames that data consists of.
func Parse(data []byte) ([]Frame, error) {
	var frames []Frame
	for reader := NewReader(bytes.NewReader(data)); ; {
		f, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/internal/sse"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Frame returns the event as one frame of Server-Sent Events (WHATWG HTML,
// section 9.2): id, event and data. Only a stored event, one with a Seq, has
// an id.
func Frame(e helmtrail.Event) ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return appendFrame(nil, e.SessionID, e.Seq, []byte(e.Type), data), nil
}

// appendFrame appends the frame of an event whose JSON is data.
func appendFrame(dst []byte, session string, seq uint64, event, data []byte) []byte {
	var buffer [64]byte
	id := buffer[:0]
	if seq > 0 {
		id = append(append(id, session...), '.')
		id = strconv.AppendUint(id, seq, 10)
	}
	return sse.Append(dst, id, event, data)
}

// chunk is one entry of the journal, encoded once and shared by all readers. It is
// never changed.
type chunk struct {
	position backend.Position
	first    uint64 // the seq of its first event
	frames   []byte
	starts   []uint32 // where each event's frame starts in frames
	ended    bool     // its last event is terminal
}

// last returns the seq of the chunk's last event.
func (c *chunk) last() uint64 { return c.first + uint64(len(c.starts)) - 1 }

// from returns the frames from seq on, nil if the chunk ends before it.
func (c *chunk) from(seq uint64) []byte {
	if seq <= c.first {
		return c.frames
	}
	i := seq - c.first
	if i >= uint64(len(c.starts)) {
		return nil
	}
	return c.frames[c.starts[i]:]
}

// size returns the approximate memory of the chunk, in bytes.
func (c *chunk) size() int { return len(c.frames) + 4*len(c.starts) + 128 }

// newChunk frames an entry's events.
func newChunk(session string, entry backend.Entry) (*chunk, error) {
	lines := bytes.Count(entry.Data, []byte{'\n'})
	c := &chunk{
		position: entry.Position,
		frames:   make([]byte, 0, len(entry.Data)+lines*(len(session)+48)),
		starts:   make([]uint32, 0, lines),
	}
	for line := range bytes.Lines(entry.Data) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		seq, t, err := peek(line)
		if err != nil {
			return nil, fmt.Errorf("read session %s at journal position %d: %w", session, entry.Position, err)
		}
		if c.first == 0 {
			c.first = seq
		}
		if want := c.first + uint64(len(c.starts)); seq != want {
			return nil, fmt.Errorf("read session %s at journal position %d: event %d stands where %d belongs", session, entry.Position, seq, want)
		}
		c.starts = append(c.starts, uint32(len(c.frames)))
		c.frames = appendFrame(c.frames, session, seq, t, line)
		c.ended = helmtrail.Type(t).Terminal()
	}
	if c.first == 0 {
		return nil, fmt.Errorf("read session %s at journal position %d: the entry is empty", session, entry.Position)
	}
	return c, nil
}

// peek reads seq and type of an event's JSON. They are always its first two
// fields (see common), which saves decoding the rest.
func peek(line []byte) (seq uint64, event []byte, err error) {
	const seqKey, typeKey = `{"seq":`, `,"type":"`
	rest, ok := bytes.CutPrefix(line, []byte(seqKey))
	if !ok {
		return 0, nil, fmt.Errorf("not an event")
	}
	digits, rest, ok := bytes.Cut(rest, []byte(typeKey))
	if !ok {
		return 0, nil, fmt.Errorf("not an event")
	}
	seq, err = strconv.ParseUint(string(digits), 10, 64)
	if err != nil || seq == 0 {
		return 0, nil, fmt.Errorf("not an event: bad seq")
	}
	event, _, ok = bytes.Cut(rest, []byte{'"'})
	if !ok {
		return 0, nil, fmt.Errorf("not an event: bad type")
	}
	return seq, event, nil
}

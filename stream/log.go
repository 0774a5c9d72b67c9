package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Log is one session's events: what the journal holds of them, and a way to
// wait for more. Readers are cursors over it; any number may read at once, and
// none of them can hold up the writer or another reader.
type Log struct {
	session SessionRef
	chunks  *chunks
	head    atomic.Pointer[head]
}

// head is the newest state of a log. It is replaced, never changed; wake is
// closed when it is.
type head struct {
	seq      uint64
	position Position
	ended    bool
	beat     []byte // the current heartbeat's frame, nil before the first
	beats    uint64 // counts heartbeats
	wake     chan struct{}
}

// openLog returns the log of a session that nobody writes to here, as it
// stands in the journal.
func openLog(ctx context.Context, chunks *chunks, session SessionRef) (*Log, error) {
	entry, err := chunks.journal.Last(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", session.ID, err)
	}
	last, err := newChunk(session.ID, entry)
	if err != nil {
		return nil, err
	}
	l := &Log{session: session, chunks: chunks}
	l.head.Store(&head{seq: last.last(), position: entry.Position, ended: last.ended, wake: make(chan struct{})})
	return l, nil
}

// Head returns the seq of the last stored event, and whether it is terminal.
func (l *Log) Head() (seq uint64, ended bool) {
	h := l.head.Load()
	return h.seq, h.ended
}

// Cursor returns a reader that has seen everything up to and including the
// event with the given seq; 0 is the start.
func (l *Log) Cursor(after uint64) *Cursor { return &Cursor{log: l, seq: after} }

// Cursor reads a log in order, each event once. It belongs to one goroutine.
type Cursor struct {
	log      *Log
	seq      uint64
	position Position
	beats    uint64
}

// Next blocks until there is something to read and returns it: one or more
// whole frames, or the current heartbeat when everything stored was read. The
// bytes are shared with other readers and must not be changed. It returns
// io.EOF after the terminal event, and ctx's error when ctx ends first.
func (c *Cursor) Next(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := c.log.head.Load()
		switch {
		case c.seq < h.seq:
			read, err := c.log.chunks.after(ctx, c.log.session, c.position)
			if err != nil {
				return nil, fmt.Errorf("read session %s after event %d: %w", c.log.session.ID, c.seq, err)
			}
			c.position = read.position
			frames := read.from(c.seq + 1)
			c.seq = max(c.seq, read.last())
			if frames != nil {
				return frames, nil
			}
		case h.ended:
			return nil, io.EOF
		case h.beats > c.beats:
			c.beats = h.beats
			return h.beat, nil
		default:
			select {
			case <-h.wake:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// each calls f with every stored event up to the present head.
func (l *Log) each(ctx context.Context, f func(Event)) error {
	stop := l.head.Load().position
	for at := Position(0); at < stop; {
		entry, err := l.chunks.journal.Next(ctx, l.session, at)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read session %s: %w", l.session.ID, err)
		}
		events, err := decodeEvents(entry.Data)
		if err != nil {
			return fmt.Errorf("read session %s at journal position %d: %w", l.session.ID, entry.Position, err)
		}
		for _, e := range events {
			f(e)
		}
		at = entry.Position
	}
	return nil
}

// decodeEvents decodes an entry's events.
func decodeEvents(data []byte) ([]Event, error) {
	var events []Event
	for line := range bytes.Lines(data) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// errTooBig means that an event can never be stored. What makes events keeps them
// smaller.
var errTooBig = errors.New("over the limit")

// writer appends to a log. It belongs to one goroutine.
type writer struct {
	log     *Log
	started time.Time
	seq     uint64
	mark    int64
	elapsed time.Duration // of the last event; it never goes back

	// ending is called when the terminal event is stored, before readers see it.
	ending func()
}

// newWriter returns a writer for a session without events.
func newWriter(chunks *chunks, session SessionRef, started time.Time) *writer {
	l := &Log{session: session, chunks: chunks}
	l.head.Store(&head{wake: make(chan struct{})})
	return &writer{log: l, started: started}
}

// write stores what is pending as events, in order, then shows them to
// readers. It returns how many of the items were stored, all unless it fails;
// with errTooBig the next one is what cannot be stored.
func (w *writer) write(ctx context.Context, items []pending) (stored int, err error) {
	seq, mark, elapsed := w.seq, w.mark, w.elapsed
	defer func() {
		if err != nil { // what was not stored gets its numbers later
			w.seq, w.mark, w.elapsed = seq, mark, elapsed
		}
	}()
	data := make([]byte, 0, 512*len(items))
	for i, b := range items {
		w.elapsed = max(w.elapsed, b.at.Sub(w.started))
		line, err := json.Marshal(Event{
			Seq: w.seq + 1, Type: b.kind, Time: b.at, SessionID: w.log.session.ID,
			Elapsed: w.elapsed, Body: b.body,
		})
		if err != nil {
			return stored, err
		}
		if len(data) > 0 && len(data)+len(line)+1 > MaxEntry/2 {
			if err := w.store(ctx, data); err != nil {
				return stored, err
			}
			data, stored = nil, i
			seq, mark, elapsed = w.seq, w.mark, w.elapsed
		}
		if len(line)+1 > MaxEntry {
			if len(data) > 0 {
				if err := w.store(ctx, data); err != nil {
					return stored, err
				}
				seq, mark, elapsed = w.seq, w.mark, w.elapsed
			}
			return i, fmt.Errorf("write session %s: event %s of %d bytes is %w of %d", w.log.session.ID, b.kind, len(line), errTooBig, MaxEntry)
		}
		data = append(append(data, line...), '\n')
		w.seq++
		w.mark = max(w.mark, b.mark)
	}
	if len(data) > 0 {
		if err := w.store(ctx, data); err != nil {
			return stored, err
		}
	}
	return len(items), nil
}

func (w *writer) store(ctx context.Context, data []byte) error {
	before := w.log.head.Load()
	position, err := w.log.chunks.journal.Append(ctx, w.log.session, before.position, w.mark, data)
	if err != nil {
		return fmt.Errorf("store events of session %s: %w", w.log.session.ID, err)
	}
	made, err := newChunk(w.log.session.ID, Entry{Position: position, Data: data})
	if err != nil {
		return err
	}
	w.log.chunks.put(chunkKey{w.log.session.ID, before.position}, made)
	if made.ended && w.ending != nil {
		w.ending()
	}
	w.log.advance(func(h *head) {
		h.seq, h.position, h.ended = made.last(), position, made.ended
	})
	return nil
}

// beat shows a new heartbeat to readers.
func (w *writer) beat(now time.Time, body *Heartbeat) error {
	frame, err := Frame(Event{Type: TypeHeartbeat, Time: now, SessionID: w.log.session.ID, Elapsed: now.Sub(w.started), Body: body})
	if err != nil {
		return err
	}
	w.log.advance(func(h *head) {
		h.beat = frame
		h.beats++
	})
	return nil
}

// advance replaces the head and wakes the readers. Only the writer calls it.
func (l *Log) advance(change func(*head)) {
	before := l.head.Load()
	after := *before
	after.wake = make(chan struct{})
	change(&after)
	l.head.Store(&after)
	close(before.wake)
}

package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Log is the events of one session: those in the journal, and a way to wait for
// more. Readers are cursors. Any number may read at once, and none of them holds
// up the writer or another reader.
type Log struct {
	session helmtrail.SessionRef
	chunks  *chunks
	head    atomic.Pointer[head]
}

// head is the newest state of a log. It is replaced, never changed; wake is
// closed when it is.
type head struct {
	seq      uint64
	position backend.Position
	ended    bool
	beat     []byte // the current heartbeat's frame, nil before the first
	beats    uint64 // counts heartbeats
	wake     chan struct{}
}

// openLog returns the stored log of a session that this process does not run.
func openLog(ctx context.Context, chunks *chunks, session helmtrail.SessionRef) (*Log, error) {
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
	position backend.Position
	beats    uint64
}

// Next blocks until there is something to read and returns it: one or more whole
// frames, or the current heartbeat if all stored events were read. The bytes are
// shared with other readers and must not be changed. It returns io.EOF after the
// terminal event, and ctx's error if ctx ends first.
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
func (l *Log) each(ctx context.Context, f func(helmtrail.Event)) error {
	stop := l.head.Load().position
	for at := backend.Position(0); at < stop; {
		entry, err := l.chunks.journal.Next(ctx, l.session, at)
		if errors.Is(err, helmtrail.ErrNotFound) {
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
func decodeEvents(data []byte) ([]helmtrail.Event, error) {
	var events []helmtrail.Event
	for line := range bytes.Lines(data) {
		var e helmtrail.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
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

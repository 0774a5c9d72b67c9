package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// errTooBig means that an event does not fit into an entry and can never be
// stored. The sources of events keep them smaller.
var errTooBig = errors.New("over the limit")

// writer appends to a log. It belongs to one goroutine.
type writer struct {
	log     *Log
	started time.Time
	last    progress // of the events that are stored
	// ending is called after the terminal event is stored and before readers see it.
	ending func()
}

// progress is the state of a session's stored events.
type progress struct {
	seq     uint64
	offset  int64         // the offset in Helm's output
	elapsed time.Duration // never goes back
}

// batch has events that are stored as one entry.
type batch struct {
	data   []byte
	events int
	last   progress // once they are stored
}

// newWriter returns a writer for a session without events.
func newWriter(chunks *chunks, session helmtrail.SessionRef, started time.Time) *writer {
	l := &Log{session: session, chunks: chunks}
	l.head.Store(&head{wake: make(chan struct{})})
	return &writer{log: l, started: started}
}

// write stores items as events, in order, and then shows them to readers. It
// returns how many items were stored, which is all of them unless it fails. If
// the error is errTooBig, the next item is the one that does not fit.
func (w *writer) write(ctx context.Context, items []pending) (stored int, err error) {
	for stored < len(items) {
		batch, err := w.batch(items[stored:])
		if err != nil {
			return stored, err
		}
		if err := w.flush(ctx, batch); err != nil {
			return stored, err
		}
		stored += batch.events
	}
	return stored, nil
}

// batch encodes as many of the items as fit into one entry, at least one.
func (w *writer) batch(items []pending) (batch, error) {
	b := batch{data: make([]byte, 0, 512*len(items)), last: w.last}
	for _, item := range items {
		next := progress{
			seq: b.last.seq + 1, offset: max(b.last.offset, item.offset), elapsed: max(b.last.elapsed, item.at.Sub(w.started)),
		}
		line, err := json.Marshal(helmtrail.Event{
			Seq: next.seq, Type: item.kind, Time: item.at, SessionID: w.log.session.ID,
			Elapsed: next.elapsed, Body: item.body,
		})
		switch {
		case b.events > 0 && (err != nil || len(b.data)+len(line)+1 > backend.MaxEntry/2):
			return b, nil
		case err != nil:
			return batch{}, err
		case len(line)+1 > backend.MaxEntry:
			return batch{}, fmt.Errorf("write session %s: event %s of %d bytes is %w of %d", w.log.session.ID, item.kind, len(line), errTooBig, backend.MaxEntry)
		}
		b.data = append(append(b.data, line...), '\n')
		b.events++
		b.last = next
	}
	return b, nil
}

// flush stores a batch and then shows it to readers.
func (w *writer) flush(ctx context.Context, b batch) error {
	before := w.log.head.Load()
	position, err := w.log.chunks.journal.Append(ctx, w.log.session, before.position, b.last.offset, b.data)
	if err != nil {
		return fmt.Errorf("store events of session %s: %w", w.log.session.ID, err)
	}
	w.last = b.last
	made, err := newChunk(w.log.session.ID, backend.Entry{Position: position, Data: b.data})
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
func (w *writer) beat(now time.Time, body *helmtrail.Heartbeat) error {
	frame, err := Frame(helmtrail.Event{Type: helmtrail.TypeHeartbeat, Time: now, SessionID: w.log.session.ID, Elapsed: now.Sub(w.started), Body: body})
	if err != nil {
		return err
	}
	w.log.advance(func(h *head) {
		h.beat = frame
		h.beats++
	})
	return nil
}

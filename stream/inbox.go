package stream

import (
	"context"
	"sync"
	"time"
)

// pending is an event on its way to the log.
type pending struct {
	at   time.Time
	kind Type
	body any
	mark int64 // the spool's position behind a line, 0 for other events
}

// maxWaitingLines bounds the lines that wait for the journal. A source of
// lines that is faster than the journal is held up; helm itself is not, since
// its supervisor writes to a file.
const maxWaitingLines = 4096

// maxWaitingOthers is how many events that are no lines may wait for the journal
// before their sources should leave out what a later event tells as well.
const maxWaitingOthers = 100

// inbox collects what a session's sources have to say, in the order of their
// arrival, until the writer takes it.
type inbox struct {
	ready chan struct{} // holds a token while something waits
	// relieved holds a token once a crowd was taken, so that sources can tell
	// what they have left out.
	relieved chan struct{}

	mu    sync.Mutex
	items []pending
	lines int
	room  chan struct{} // closed when lines are taken; nil while nobody waits for it
}

func newInbox() *inbox {
	return &inbox{ready: make(chan struct{}, 1), relieved: make(chan struct{}, 1)}
}

// put adds an event. It never blocks.
func (b *inbox) put(kind Type, body any) {
	b.mu.Lock()
	b.items = append(b.items, pending{at: time.Now(), kind: kind, body: body})
	b.mu.Unlock()
	b.signal()
}

// crowded tells whether so much waits that only what must be told should be added.
func (b *inbox) crowded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isCrowded()
}

// isCrowded is crowded, called under b.mu.
func (b *inbox) isCrowded() bool { return len(b.items)-b.lines >= maxWaitingOthers }

// putLine adds a line of helm's output, and blocks while too many are waiting.
func (b *inbox) putLine(ctx context.Context, line Line) error {
	for {
		b.mu.Lock()
		if b.lines < maxWaitingLines {
			b.lines++
			b.items = append(b.items, pending{
				at: line.Time, kind: TypeLog, mark: line.Mark,
				body: &LogLine{Line: line.Text, Truncated: line.Truncated},
			})
			b.mu.Unlock()
			b.signal()
			return nil
		}
		if b.room == nil {
			b.room = make(chan struct{})
		}
		room := b.room
		b.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take returns everything that waits.
func (b *inbox) take() []pending {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isCrowded() {
		give(b.relieved)
	}
	items := b.items
	b.items, b.lines = nil, 0
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
	return items
}

func (b *inbox) signal() { give(b.ready) }

// give puts a token into a channel that has room for one, unless it has one.
func give(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

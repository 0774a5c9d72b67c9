package stream

import (
	"context"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// pending is an event that waits to be stored.
type pending struct {
	at     time.Time
	kind   helmtrail.Type
	body   any
	offset int64 // the offset in the spool after a line, 0 for other events
}

// maxWaitingLines is the maximum number of lines that wait for the journal.
// Beyond it, helm's output is not read. helm itself continues, because its
// supervisor writes to a file.
const maxWaitingLines = 4096

// maxWaitingOthers is the backlog of other events above which sources skip
// updates that a later event supersedes.
const maxWaitingOthers = 100

// inbox collects events from a session's sources, in the order of their arrival,
// until the writer takes them.
type inbox struct {
	ready chan struct{} // holds a token while something waits
	// relieved holds a token after a crowded inbox was emptied, so that sources
	// can publish the updates that they skipped.
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
func (b *inbox) put(kind helmtrail.Type, body any) {
	b.mu.Lock()
	b.items = append(b.items, pending{at: time.Now(), kind: kind, body: body})
	b.mu.Unlock()
	b.signal()
}

// crowded reports whether sources should skip updates that a later event
// supersedes.
func (b *inbox) crowded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isCrowded()
}

// isCrowded is crowded, called under b.mu.
func (b *inbox) isCrowded() bool { return len(b.items)-b.lines >= maxWaitingOthers }

// putLine adds a line of helm's output. It blocks while too many lines wait.
func (b *inbox) putLine(ctx context.Context, line backend.Line) error {
	for {
		b.mu.Lock()
		if b.lines < maxWaitingLines {
			b.lines++
			b.items = append(b.items, pending{
				at: line.Time, kind: helmtrail.TypeLog, offset: line.Offset,
				body: &helmtrail.LogLine{Line: line.Text, Truncated: line.Truncated},
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

// take removes and returns all waiting events.
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

// give puts a token into a channel with room for one, unless it holds one.
func give(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

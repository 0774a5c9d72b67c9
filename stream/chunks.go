package stream

import (
	"container/list"
	"context"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// chunks reads entries of sessions from the journal. It caches the most recently
// used ones for all readers, up to a size in bytes.
type chunks struct {
	journal Journal
	limit   int

	loads singleflight.Group

	mu    sync.Mutex
	bytes int
	used  *list.List // of *held, the last used first
	byKey map[chunkKey]*list.Element
}

// chunkKey identifies a chunk by the position before it, which a reader knows
// when it needs the chunk.
type chunkKey struct {
	session string
	after   backend.Position
}

type held struct {
	key   chunkKey
	chunk *chunk
}

func newChunks(journal Journal, limit int) *chunks {
	return &chunks{journal: journal, limit: limit, used: list.New(), byKey: map[chunkKey]*list.Element{}}
}

// after returns the session's first chunk after the position. It fails with
// ErrNotFound if there is none.
func (c *chunks) after(ctx context.Context, session helmtrail.SessionRef, position backend.Position) (*chunk, error) {
	key := chunkKey{session.ID, position}
	if found := c.get(key); found != nil {
		return found, nil
	}
	loaded := c.loads.DoChan(session.ID+" "+strconv.FormatUint(uint64(position), 10), func() (any, error) {
		// The read serves all waiting readers, so it must not end when one of
		// them leaves.
		entry, err := c.journal.Next(context.WithoutCancel(ctx), session, position)
		if err != nil {
			return nil, err
		}
		made, err := newChunk(session.ID, entry)
		if err != nil {
			return nil, err
		}
		c.put(key, made)
		return made, nil
	})
	select {
	case r := <-loaded:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*chunk), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *chunks) get(key chunkKey) *chunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byKey[key]
	if !ok {
		return nil
	}
	c.used.MoveToFront(element)
	return element.Value.(*held).chunk
}

func (c *chunks) put(key chunkKey, made *chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.byKey[key]; ok {
		c.used.MoveToFront(element)
		return
	}
	c.byKey[key] = c.used.PushFront(&held{key, made})
	c.bytes += made.size()
	for c.bytes > c.limit && c.used.Len() > 1 {
		oldest := c.used.Back()
		dropped := c.used.Remove(oldest).(*held)
		delete(c.byKey, dropped.key)
		c.bytes -= dropped.chunk.size()
	}
}

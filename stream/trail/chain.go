package trail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// chain holds the entries of one cluster and the state derived from them.
type chain struct {
	cluster string
	filter  string
	entries *journal.Store
	index   *index

	appending sync.Mutex // held while an entry is appended, which may take a while
	// sequence is the sequence of the last entry in the stream.
	sequence uint64

	mu    sync.Mutex // guards the fields below; only the goroutine that appends adds links
	links links
	// logged is the last head that was logged.
	logged head
	// checked is when the chain was last read from its files.
	checked time.Time
}

func newChain(cluster string, entries *journal.Store) *chain {
	return &chain{
		cluster: cluster, filter: clusterSubject(cluster) + ".>", entries: entries,
		index: newIndex(), links: links{cluster: cluster},
	}
}

// load adds the next entry from the files.
func (c *chain) load(m *journal.Stored) {
	c.sequence = max(c.sequence, m.Sequence)
	if entry, ok := c.links.next(m); ok {
		c.index.add(&entry, m.Sequence, false)
	} else {
		c.index.unreadable(c.links.position, m.Sequence)
	}
}

// resume continues the chain from its last known head. Entries missing up to
// that head stay missing: the next entry is linked to the last known one, so
// that the gap is permanently visible.
func (c *chain) resume(known head) {
	c.links.reaches(known)
	if known.Position > c.links.position {
		c.links.position, c.links.hash = known.Position, known.Hash
	}
}

// append links an entry to the chain and stores it. It sets Position, Cluster
// and Previous. It is safe for concurrent use, and blocks until the entry is
// stored or the journal refuses it.
func (c *chain) append(ctx context.Context, entry audit.Entry) error {
	c.appending.Lock()
	defer c.appending.Unlock()
	for {
		last := c.head()
		entry.Cluster, entry.Position, entry.Previous = c.cluster, last.Position+1, last.Hash
		data, err := json.Marshal(&entry)
		if err != nil {
			return fmt.Errorf("encode entry %d of the trail: %w", entry.Position, err)
		}
		message := journal.Message{
			Subject: entrySubject(entryRelease(&entry)), Headers: map[string]string{hashHeader: hashOf(data)}, Data: data,
		}
		message.Sequence, err = c.entries.AppendAfter(ctx, message, c.filter, c.sequence)
		if err == nil {
			c.take(&entry, &message)
			return nil
		}
		if !errors.Is(err, helmtrail.ErrFenced) {
			return err
		}
		// Another process appended first, or an earlier attempt succeeded after all.
		before := c.sequence
		stored, err := c.catchUp(ctx, data)
		if err == nil && !stored && c.sequence == before {
			// NATS skips the last entry because it is damaged.
			err = c.passDamaged(ctx)
			if err == nil && c.sequence == before {
				err = fmt.Errorf("append entry %d of the trail: %w", entry.Position, helmtrail.ErrFenced)
			}
		}
		if stored || err != nil {
			return err
		}
	}
}

// passDamaged makes the last entry that NATS can read, if any, the one to
// append to.
func (c *chain) passDamaged(ctx context.Context) error {
	last, err := c.entries.Last(ctx, c.filter)
	if err != nil && !errors.Is(err, helmtrail.ErrNotFound) {
		return err
	}
	c.sequence = last.Sequence
	return nil
}

// catchUp adds the entries that others have appended, and reports whether data
// was among them.
func (c *chain) catchUp(ctx context.Context, data []byte) (stored bool, err error) {
	for {
		message, err := c.entries.Next(ctx, c.filter, c.sequence)
		if errors.Is(err, helmtrail.ErrNotFound) {
			return stored, nil
		}
		if err != nil {
			return stored, err
		}
		var entry audit.Entry
		if err := json.Unmarshal(message.Data, &entry); err != nil {
			return stored, fmt.Errorf("read what others appended to the trail: %w", err)
		}
		stored = stored || slices.Equal(message.Data, data)
		c.take(&entry, &message)
	}
}

// take records a stored entry as the last one. The caller holds c.appending.
func (c *chain) take(entry *audit.Entry, m *journal.Message) {
	c.sequence = m.Sequence
	c.index.add(entry, m.Sequence, true) // before the entry is counted
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links.next(&journal.Stored{Message: *m})
}

// state returns the known state of the chain without reading it again.
func (c *chain) state() audit.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.links.state()
	state.Checked = c.checked
	return state
}

// head returns the last entry.
func (c *chain) head() head {
	c.mu.Lock()
	defer c.mu.Unlock()
	return head{c.links.position, c.links.hash}
}

// tell returns the last entry and records it as logged.
func (c *chain) tell() head {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logged = head{c.links.position, c.links.hash}
	return c.logged
}

// loggedHead returns the last head that was logged.
func (c *chain) loggedHead() head {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logged
}

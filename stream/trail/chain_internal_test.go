package trail

import (
	"testing"
	"time"
)

// Metrics and answers include a trail even while an unresponsive disk keeps an
// entry from being stored.
func TestAChainCanBeReadWhileAnEntryIsBeingStored(t *testing.T) {
	c := newChain("dev", nil)
	c.appending.Lock()
	defer c.appending.Unlock()
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.state()
		c.head()
		c.tell()
		c.loggedHead()
	}()
	select {
	case <-read:
	case <-time.After(10 * time.Second):
		t.Fatal("reading the chain's state had to wait")
	}
}

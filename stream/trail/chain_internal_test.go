package trail

import (
	"testing"
	"time"
)

// Metrics and answers include a trail even while an unresponsive disk keeps an
// entry from being stored.
func TestAChainIsToldOfWhileAnEntryIsBeingStored(t *testing.T) {
	c := newChain("dev", nil)
	c.appending.Lock()
	defer c.appending.Unlock()
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.state()
		c.head()
		c.tell()
		c.toldHead()
	}()
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("what is known of the chain has to wait")
	}
}

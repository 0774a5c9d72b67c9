package bounded_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmtrail/helmtrail/internal/bounded"
)

func TestValuesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bounded.New(bounded.Options[string]{Limit: 2, Life: 10 * time.Second})
		c.Add("a", "first")
		c.Add("a", "second")
		if v, ok := c.Get("a"); !ok || v != "first" {
			t.Errorf("a is %q, %v, want the first value", v, ok)
		}
		time.Sleep(11 * time.Second)
		if _, ok := c.Get("a"); ok {
			t.Error("a has not expired")
		}
		c.Add("a", "third")
		if v, _ := c.Get("a"); v != "third" || c.Size() != 1 {
			t.Errorf("a is %q and the size %d, want third and 1", v, c.Size())
		}
	})
}

func TestExpiredValuesMakeRoomFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bounded.New(bounded.Options[int]{Limit: 2, Life: 10 * time.Second})
		c.Add("old", 1)
		time.Sleep(6 * time.Second)
		c.Add("young", 2)
		time.Sleep(6 * time.Second)
		c.Add("new", 3)
		if _, ok := c.Get("young"); !ok {
			t.Error("a value that had not expired was dropped")
		}
		c.Add("newer", 4)
		if _, ok := c.Get("young"); ok || c.Size() != 1 {
			t.Errorf("the full cache was not emptied: size %d", c.Size())
		}
	})
}

func TestSizesNeverExceedTheLimit(t *testing.T) {
	c := bounded.New(bounded.Options[string]{Limit: 100, Size: func(s string) int { return len(s) }})
	c.Add("huge", string(make([]byte, 101)))
	if _, ok := c.Get("huge"); ok {
		t.Error("a value larger than the limit was kept")
	}
	var adding sync.WaitGroup
	for n := range 8 {
		adding.Go(func() {
			for i := range 200 {
				c.Add(fmt.Sprint(n, i), string(make([]byte, i%50)))
				if size := c.Size(); size > 100 || size < 0 {
					t.Errorf("size %d", size)
				}
			}
		})
	}
	adding.Wait()
}

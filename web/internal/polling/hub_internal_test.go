package polling

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// newTestHub returns a hub of a cluster whose releases never change.
func newTestHub(t *testing.T) *Hub {
	return New(t.Context().Done(), func() uint64 { return 1 })
}

func polled(h *Hub, tag string, read func(context.Context) (*Answer, error)) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(recorder)
	c.Request = httptest.NewRequest(http.MethodGet, "/x?wait=30", nil)
	c.Request.Header.Set("If-None-Match", tag)
	if err := h.Poll(c, Poll{About: Topic{"shop", "web"}, Key: "/x", Read: read}); err != nil {
		recorder.Code = 0
	}
	return recorder
}

// waitingFor returns the number of waiters for a topic.
func (h *Hub) waitingFor(t Topic) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.waiting[t]; w != nil {
		return w.count
	}
	return 0
}

func TestWaitersShareOneNotificationAndOneEncodedAnswer(t *testing.T) {
	const pollers = 1000
	h := newTestHub(t)
	var version, encoded atomic.Int64
	read := func(context.Context) (*Answer, error) {
		tag := httpapi.NewTag()
		tag.Add("version", string(rune('a'+version.Load())))
		return NewAnswer(tag, func() ([]byte, error) {
			encoded.Add(1)
			return []byte("{}"), nil
		}), nil
	}
	first, err := read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int64
	var polling sync.WaitGroup
	for range pollers {
		polling.Go(func() {
			if polled(h, first.etag, read).Code == http.StatusOK {
				answered.Add(1)
			}
		})
	}
	for h.waitingFor(Topic{"shop", "web"}) < pollers {
		time.Sleep(time.Millisecond)
	}
	h.Changed("shop", "other")
	h.Changed("elsewhere", "web")
	if n := answered.Load(); n > 0 {
		t.Errorf("another release woke %d", n)
	}
	version.Add(1)
	h.Changed("shop", "web")
	polling.Wait()
	if n := answered.Load(); n != pollers {
		t.Errorf("%d of %d were answered", n, pollers)
	}
	// A poller that starts just before the notification, or a second after the
	// answer was encoded, encodes it again. All others share one.
	if n := encoded.Load(); n < 1 || n > pollers/10 {
		t.Errorf("the answer was encoded %d times for %d pollers", n, pollers)
	}
	if len(h.waiting) > 0 {
		t.Errorf("waiters are left: %v", h.waiting)
	}
}

func TestAnOldAnswerIsNotShared(t *testing.T) {
	h := newTestHub(t)
	reads := 0
	read := func(context.Context) (*Answer, error) {
		reads++
		return JSON(reads), nil
	}
	get := func() string {
		a, err := h.Shared(t.Context(), "key", read)
		if err != nil {
			t.Fatal(err)
		}
		body, err := a.encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if first, again := get(), get(); first != "1\n" || again != first {
		t.Errorf("answers %q and %q, want the same one twice", first, again)
	}
	h.Changed("shop", "web")
	if after := get(); after != "2\n" {
		t.Errorf("after a change the answer is %q", after)
	}
}

package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
)

// still is a cluster in which nothing happens.
type still struct{}

func (still) Latest(string) []*decoder.Revision                 { return nil }
func (still) Revisions(string, string) []*decoder.Revision      { return nil }
func (still) Version() uint64                                   { return 1 }
func (still) ObserveAll(func(decoder.Transition)) (stop func()) { return func() {} }
func polled(s *Server, w *watched, tag string, read func(context.Context) (*answer, error)) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(recorder)
	c.Request = httptest.NewRequest(http.MethodGet, "/x?wait=30", nil)
	c.Request.Header.Set("If-None-Match", tag)
	if err := s.poll(c, w, topic{"shop", "web"}, "/x", read); err != nil {
		recorder.Code = 0
	}
	return recorder
}

// waitingFor is how many wait for a topic.
func (c *changes) waitingFor(t topic) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waiting[t]; w != nil {
		return w.count
	}
	return 0
}

func TestWaitersShareOneNotificationAndOneEncodedAnswer(t *testing.T) {
	const pollers = 1000
	s := &Server{closing: t.Context()}
	w := &watched{Cluster: Cluster{Releases: still{}}, changes: newChanges(), gone: context.Background()}
	var version, encoded atomic.Int64
	read := func(context.Context) (*answer, error) {
		tag := newTag()
		tag.add("version", string(rune('a'+version.Load())))
		return newAnswer(tag, func() ([]byte, error) {
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
			if polled(s, w, first.etag, read).Code == http.StatusOK {
				answered.Add(1)
			}
		})
	}
	for w.changes.waitingFor(topic{"shop", "web"}) < pollers {
		time.Sleep(time.Millisecond)
	}
	w.changes.tell("shop", "other")
	w.changes.tell("elsewhere", "web")
	if n := answered.Load(); n > 0 {
		t.Errorf("%d were woken by another release", n)
	}
	version.Add(1)
	w.changes.tell("shop", "web")
	polling.Wait()
	if n := answered.Load(); n != pollers {
		t.Errorf("%d of %d were answered", n, pollers)
	}
	// Whoever looks just before it is told, or a second after the answer was
	// made, has one encoded anew; everybody else shares.
	if n := encoded.Load(); n < 1 || n > pollers/10 {
		t.Errorf("the answer was encoded %d times for %d pollers", n, pollers)
	}
	if len(w.changes.waiting) > 0 {
		t.Errorf("waiters are left: %v", w.changes.waiting)
	}
}

func TestAnOldAnswerIsNotShared(t *testing.T) {
	w := &watched{Cluster: Cluster{Releases: still{}}, changes: newChanges(), gone: context.Background()}
	reads := 0
	read := func(context.Context) (*answer, error) {
		reads++
		return jsonAnswer(reads), nil
	}
	get := func() string {
		a, err := w.shared(t.Context(), "key", read)
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
	w.changes.tell("shop", "web")
	if after := get(); after != "2\n" {
		t.Errorf("after a change the answer is %q", after)
	}
}

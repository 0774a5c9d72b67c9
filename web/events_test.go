package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
)

func sessionEvents(name, id string) string {
	path := shopURL + "/" + name + "/events"
	if id != "" {
		path += "?sessionId=" + id
	}
	return path
}

// wantSeqs checks that frames are the session's events from..to, each once, in
// order.
func wantSeqs(t *testing.T, frames []frame, session string, from, to int) {
	t.Helper()
	var got, want []string
	for _, f := range frames {
		got = append(got, f.id)
	}
	for i := from; i <= to; i++ {
		want = append(want, fmt.Sprintf("%s.%d", session, i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("ids (-want +got):\n%s", diff)
	}
}

func TestStreamReplaysThenFollowsAndEndsAfterTheTerminalEvent(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	p.print(1, 3)
	r := f.listen(sessionEvents("web", id))
	for i, want := range []string{"STARTED", "LOG", "LOG", "LOG"} {
		got, ok := r.stored()
		if !ok || got.event != want {
			t.Fatalf("event %d is %+v, want %s", i+1, got, want)
		}
	}
	p.print(4, 4)
	if got, _ := r.stored(); !strings.Contains(got.data, `"line":"line 4"`) {
		t.Fatalf("live event is %+v", got)
	}
	p.end()
	rest := r.all()
	if len(rest) != 1 || rest[0].event != "COMPLETED" {
		t.Fatalf("the stream ends with %+v, want COMPLETED alone", rest)
	}
	var session helmtrail.Session
	f.do(http.MethodGet, shopURL+"/web/sessions/"+id, "").decode(http.StatusOK, &session)
	if session.State != helmtrail.StateCompleted {
		t.Errorf("after the end of the stream GET returns %s, want completed", session.State)
	}
}

func TestHeartbeatsHaveNoIDAndArriveAtOnceAndEveryTwoSeconds(t *testing.T) {
	f := newFixture(t)
	id, _ := f.install("web")
	r := f.listen(sessionEvents("web", id))
	var beats []time.Time
	for len(beats) < 3 {
		got, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if got.event != "HEARTBEAT" {
			continue
		}
		beats = append(beats, time.Now())
		if got.id != "" || strings.Contains(got.data, `"seq"`) {
			t.Errorf("heartbeat %+v has an id or a seq", got)
		}
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(got.data), &e); err != nil {
			t.Fatal(err)
		}
		if late := time.Since(e.Time); len(beats) > 1 && late > atOnce {
			t.Errorf("heartbeat arrived %v after it was made", late)
		}
	}
}

func TestNoRunningSession(t *testing.T) {
	f := newFixture(t)
	message, _ := f.do(http.MethodGet, sessionEvents("web", ""), "").wantError(http.StatusNotFound, "no_active_session")
	if want := "No active session found. The operation may have completed."; message != want {
		t.Errorf("message %q, want %q", message, want)
	}
	f.do(http.MethodGet, sessionEvents("web", "0b9a6a4e-0000-4000-8000-000000000000"), "").wantError(http.StatusNotFound, "not_found")
	f.do(http.MethodGet, "/other/namespaces/shop/releases/web/events", "").wantError(http.StatusNotFound, "not_found")
}

func TestSessionOfAnotherReleaseIsNotFound(t *testing.T) {
	f := newFixture(t)
	id, _ := f.install("web")
	for _, path := range []string{"/events?sessionId=" + id, "/sessions/" + id} {
		f.do(http.MethodGet, shopURL+"/api"+path, "").wantError(http.StatusNotFound, "not_found")
		f.do(http.MethodGet, "/dev/namespaces/bank/releases/web"+path, "").wantError(http.StatusNotFound, "not_found")
	}
}

// https://github.com/feder-cr/invisible_playwright_mcp/pull/1263
// https://github.com/EventSource/eventsource/issues/27
func TestAReconnectedReaderGetsEachEventOnce(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	other, q := f.install("api")
	q.end()
	f.listen(sessionEvents("api", other)).all()
	p.print(1, 299) // with STARTED that is 300 events

	first := f.listen(sessionEvents("web", id))
	var seen []frame
	for len(seen) < 120 {
		got, _ := first.stored()
		seen = append(seen, got)
	}
	wantSeqs(t, seen, id, 1, 120)
	first.reset()

	// Events are written while each reader's replay is being sent.
	resumed := map[string]*reader{
		"header":             f.listen(sessionEvents("web", id), "Last-Event-ID", id+".120"),
		"query":              f.listen(sessionEvents("web", id) + "&lastEventId=" + id + ".120"),
		"bare seq":           f.listen(sessionEvents("web", id), "Last-Event-ID", "120"),
		"header beats query": f.listen(sessionEvents("web", id)+"&lastEventId="+id+".7", "Last-Event-ID", id+".120"),
		"without session id": f.listen(sessionEvents("web", ""), "Last-Event-ID", id+".120"),
	}
	replayed := map[string]*reader{}
	for _, last := range []string{"abc", "-1", "+5", "999999", id + ".999999", other + ".1", id + ".x", "." + "5", id + "."} {
		replayed[last] = f.listen(sessionEvents("web", id), "Last-Event-ID", last)
	}
	replayed["bare seq without session id"] = f.listen(sessionEvents("web", ""), "Last-Event-ID", "120")
	p.print(300, 400)
	p.end()

	for name, r := range resumed {
		t.Run("resume by "+name, func(t *testing.T) {
			wantSeqs(t, r.all(), id, 121, 402)
		})
	}
	for last, r := range replayed {
		t.Run("reset on "+last, func(t *testing.T) {
			all := r.all()
			if len(all) == 0 || all[0].event != "RESET" || all[0].id != "" {
				t.Fatalf("the first frame is %+v, want RESET without an id", all[:min(1, len(all))])
			}
			wantSeqs(t, all[1:], id, 1, 402)
		})
	}
}

func TestReaderWhoHasTheTerminalEventGets204(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	p.print(1, 1)
	p.end()
	all := f.listen(sessionEvents("web", id)).all()
	last := all[len(all)-1].id
	for _, path := range []string{sessionEvents("web", id), sessionEvents("web", "")} {
		r := f.do(http.MethodGet, path, "", "Last-Event-ID", last)
		if r.status != http.StatusNoContent || r.body != "" {
			t.Errorf("GET %s after %s: %d %q, want 204", path, last, r.status, r.body)
		}
	}
}

func TestAReaderWhoReturnsAfterTheEndGetsTheRest(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	p.print(1, 2)
	p.end()
	f.listen(sessionEvents("web", id)).all()
	r := f.listen(sessionEvents("web", ""), "Last-Event-ID", id+".2")
	wantSeqs(t, r.all(), id, 3, 4)
}

// https://github.com/gin-contrib/gzip/issues/16
// https://github.com/nginx/nginx/issues/1505
// https://github.com/linagora/cozy-stack/pull/3291
func TestEventsAreNotHeldBack(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	asked := time.Now()
	r := f.listen(sessionEvents("web", id), "Accept-Encoding", "gzip, br")
	if got, _ := r.next(); got.event != "STARTED" {
		t.Fatalf("first event %+v", got)
	}
	if waited := time.Since(asked); waited > atOnce {
		t.Errorf("STARTED arrived after %v", waited)
	}
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "Content-Encoding", "Cache-Control", "X-Accel-Buffering"} {
		got[name] = r.header.Get(name)
	}
	want := map[string]string{
		"Content-Type": "text/event-stream", "Content-Encoding": "", "Cache-Control": "private, no-cache", "X-Accel-Buffering": "no",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	for i := range 20 {
		made := time.Now()
		p.print(i, i)
		if _, ok := r.stored(); !ok {
			t.Fatal("the stream ended")
		}
		if waited := time.Since(made); waited > atOnce {
			t.Errorf("event %d arrived after %v", i, waited)
		}
	}
}

// https://github.com/gin-gonic/gin/issues/4082
// https://github.com/gin-gonic/examples/issues/193
// https://github.com/ollama/ollama/pull/17135
func TestDisconnectedReadersLeaveNothingBehind(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web")
	before := runtime.NumGoroutine()
	var readers []*reader
	for range 200 {
		r := f.listen(sessionEvents("web", id))
		if got, _ := r.next(); got.event != "STARTED" {
			t.Fatalf("first event %+v", got)
		}
		readers = append(readers, r)
	}
	if now := runtime.NumGoroutine(); now < before+200 {
		t.Fatalf("%d goroutines serve 200 readers, from %d: the test counts the wrong thing", now, before)
	}
	for i, r := range readers {
		if i%2 == 0 {
			r.reset()
		} else {
			r.conn.Close()
		}
	}
	// The session is quiet: no write could fail. One or two goroutines may belong to
	// something else; those of the 200 readers are all gone.
	waitForGoroutines(t, before+10, atOnce)
	p.print(1, 1000)
	p.end()
	wantSeqs(t, f.listen(sessionEvents("web", id)).all(), id, 1, 1002)
}

// waitForGoroutines waits until at most that many goroutines are left.
func waitForGoroutines(t *testing.T, most int, within time.Duration) {
	t.Helper()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(within); runtime.NumGoroutine() > most; <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left after %v, want %d", runtime.NumGoroutine(), within, most)
		}
	}
}

func TestAReaderWhoReadsNothingIsDisconnectedAndDelaysNobody(t *testing.T) {
	const readers, lines = 500, 20_000
	f := newFixture(t)
	f.server.SetTakeWithin(10 * time.Second)
	id, p := f.install("web")
	before := runtime.NumGoroutine()
	silent := f.listen(sessionEvents("web", id))
	if err := silent.conn.SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	for range readers - 1 {
		r := f.listen(sessionEvents("web", id))
		reading.Go(func() {
			defer r.conn.Close()
			events, ended := countEvents(r.lines)
			if events != lines+2 || !ended {
				t.Errorf("a reader got %d events (to the end: %v), want %d", events, ended, lines+2)
			}
		})
	}
	p.print(1, lines)
	p.end()
	reading.Wait()

	// The silent reader's connection is still open on its side, but is no longer
	// served.
	waitForGoroutines(t, before, 6*atOnce)
	// It can resume.
	wantSeqs(t, f.listen(sessionEvents("web", id), "Last-Event-ID", id+"."+strconv.Itoa(lines)).all(), id, lines+1, lines+2)
}

// countEvents counts a stream's frames that have an id, and reports whether the stream
// ended properly. It only looks at bytes, to be fast.
func countEvents(r io.Reader) (events int, ended bool) {
	mark := []byte("\nid: ")
	buffer := make([]byte, 64<<10)
	kept := 0
	for {
		n, err := r.Read(buffer[kept:])
		data := buffer[:kept+n]
		events += bytes.Count(data, mark)
		// A marker may be split between two reads. Fewer bytes are kept than a
		// marker has, so none is counted twice.
		kept = copy(buffer, data[max(0, len(data)-len(mark)+1):])
		if err != nil {
			return events, err == io.EOF
		}
	}
}

func TestShutdownEndsStreamsFirst(t *testing.T) {
	f := newFixture(t)
	f.http.Config.RegisterOnShutdown(func() {
		if err := f.server.Close(); err != nil {
			t.Error(err)
		}
	})
	id, _ := f.install("web")
	session, cluster := f.listen(sessionEvents("web", id)), f.listen("/dev/releases/events")
	session.next()
	cluster.next()
	ctx, cancel := context.WithTimeout(t.Context(), atOnce)
	defer cancel()
	if err := f.http.Config.Shutdown(ctx); err != nil {
		t.Fatalf("shutdown with two open streams: %v", err)
	}
	session.all()
	cluster.all()
}

func TestAnOperationContinuesAfterItsRequest(t *testing.T) {
	f := newFixture(t)
	id, p := f.install("web") // The request has ended when install returns.
	f.http.CloseClientConnections()
	p.print(1, 5)
	p.end()
	all := f.listen(sessionEvents("web", id)).all()
	if last := all[len(all)-1]; last.event != "COMPLETED" {
		t.Errorf("the session ended with %+v", last)
	}
}

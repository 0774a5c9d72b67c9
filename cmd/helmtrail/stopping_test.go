package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// While helmtrail stops, running operations continue to their end and can be watched.
// Nothing new is started: /readyz directs load balancers elsewhere.
func TestStoppingWaitsForOperationsAndStartsNoneNew(t *testing.T) {
	t.Parallel()
	end := newGate(t)
	h := serveOn(t, arguments{
		helm: standIn(t, end.await()+"; echo last"), more: []string{"--drain", "5m"},
	})
	namespace := clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	release := h.release(namespace, "web")
	// The session changes once more after the release was read: it then has the newest
	// revision. After that only its end is a change.
	var running polled
	eventually(t, "the session has read the release", func() bool {
		running = h.poll(t, release+"/sessions", "")
		return running.status == http.StatusOK && strings.Contains(running.body, `"startRevision":0`)
	})
	const readers, pollers = 100, 100
	var watching, opened sync.WaitGroup
	opened.Add(readers)
	for range readers {
		watching.Go(func() {
			first := sync.OnceFunc(opened.Done)
			last := frame{}
			err := h.frames(t.Context(), answer.Events, func(f frame) bool { first(); last = f; return true })
			if err != nil || last.event != string(helmtrail.TypeCompleted) {
				t.Errorf("a reader's last event is %q, error %v", last.event, err)
			}
		})
	}
	for range pollers {
		watching.Go(func() {
			if a := h.poll(t, release+"/sessions", running.tag); a.status != http.StatusOK || !strings.Contains(a.body, `"completed"`) {
				t.Errorf("a poller was answered %d %.600s, after %.600s", a.status, a.body, running.body)
			}
		})
	}
	opened.Wait()
	var stopping sync.WaitGroup
	stopping.Go(h.stop)
	eventually(t, "it is no longer ready", func() bool { return strings.Contains(h.notReady(t), "stopping") })
	var refused struct{ Code string }
	code := h.call(t, http.MethodPost, h.releases(namespace), object{"name": "late", "chart": object{"ref": "web"}}, &refused)
	if code != http.StatusServiceUnavailable || refused.Code != "unavailable" {
		t.Errorf("a new operation is answered %d %s, want 503 unavailable", code, refused.Code)
	}
	end.open(t)
	watching.Wait()
	stopping.Wait()
}

// Neither a reader that reads nothing nor a client waiting for Helm keeps
// helmtrail from stopping, or makes it exit with an error.
func TestNoClientKeepsHelmtrailFromStopping(t *testing.T) {
	t.Parallel()
	const lines = 3_000 // of 6 KB each, more than socket buffers hold
	finish := newGate(t)
	script := fmt.Sprintf(`case " $* " in *" web "*) seq -f 'line %%.0f %s' 1 %d;; *) echo only;; esac; %s`,
		strings.Repeat("x", 6000), lines, finish.await())
	a := arguments{helm: standIn(t, script), dataDir: t.TempDir(), more: []string{"--drain", "0s", "--on-stop", "leave"}}
	h, namespace := serveOn(t, a), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	h.silentReader(t, answer.Events)
	waiting := make(chan string, 1)
	go func() {
		answer := h.console(t, http.MethodPost, "/release", object{"name": "other", "namespace": namespace, "chart_url": "web"})
		waiting <- fmt.Sprint(answer.status, " ", string(answer.body))
	}()
	sessions := map[string]string{"web": answer.SessionID}
	eventually(t, "the other session", func() bool {
		var list struct{ Items []helmtrail.Session }
		h.get(t, h.release(namespace, "other")+"/sessions", &list)
		if len(list.Items) > 0 {
			sessions["other"] = list.Items[0].ID
		}
		return len(list.Items) > 0
	})
	h.awaitLines(t, h.release(namespace, "other")+"/events?sessionId="+sessions["other"], 1)
	h.awaitLines(t, h.release(namespace, "web")+"/events?sessionId="+sessions["web"], lines)
	begun := time.Now()
	h.stop()
	if took := time.Since(begun); took > closeTime+patience {
		t.Errorf("stopping took %v, want little more than %v", took, closeTime)
	}
	if got := <-waiting; !strings.HasPrefix(got, "502 ") || !strings.Contains(got, "session "+sessions["other"]+" goes on") {
		t.Errorf("the client that waited for helm was answered %s", got)
	}

	// The session continues, and the next helmtrail completes it.
	finish.open(t)
	again := serveOn(t, a)
	for name, session := range sessions {
		events := again.events(t.Context(), t, again.release(namespace, name)+"/events?sessionId="+session, 1)
		if kind, last := end(t, events); kind != helmtrail.TypeCompleted {
			t.Errorf("%s ended %s: %s", name, kind, last.Message)
		}
	}
}

// awaitLines follows a session until its log has this number of lines.
func (h *server) awaitLines(t *testing.T, events string, lines int) {
	t.Helper()
	count := 0
	err := h.frames(t.Context(), events, func(f frame) bool {
		if f.event == string(helmtrail.TypeLog) {
			count++
		}
		return count < lines
	})
	if err != nil || count < lines {
		t.Errorf("%s has %d lines, error %v", events, count, err)
	}
}

package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

type transition struct {
	Type, Cursor, Cluster, Namespace, Name, Change, Status string
	Revision                                               int
}

func (r *reader) transition() (transition, frame) {
	r.t.Helper()
	f, ok := r.stored()
	if !ok {
		r.t.Fatal("the stream ended")
	}
	var e transition
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		r.t.Fatal(err)
	}
	if e.Cursor != f.id || e.Type != f.event {
		r.t.Errorf("frame %+v does not match its data", f)
	}
	return e, f
}

func TestTransitionsAreSentAtOnce(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed)) // before anybody reads the stream
	r := f.listen("/dev/releases/events")
	if first, _ := r.next(); first.event != "HEARTBEAT" || first.id != "" {
		t.Fatalf("first frame %+v, want HEARTBEAT without an id", first)
	}
	made := time.Now()
	f.releases.put(revision("shop", "web", 2, decoder.StatusPendingUpgrade))
	got, at := r.transition()
	if waited := time.Since(made); waited > atOnce {
		t.Errorf("the transition arrived after %v", waited)
	}
	want := transition{
		Type: "TRANSITION", Cursor: at.id, Cluster: "dev", Namespace: "shop", Name: "web",
		Change: "status", Status: "pending-upgrade", Revision: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transition (-want +got):\n%s", diff)
	}
}

func TestListAndTransitionsJoinWithoutAGap(t *testing.T) {
	f := newFixture(t)
	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	var list releaseList
	f.do(http.MethodGet, "/dev/releases", "").decode(http.StatusOK, &list)
	f.releases.put(revision("shop", "web", 2, decoder.StatusPendingUpgrade))
	f.releases.put(revision("shop", "web", 2, decoder.StatusDeployed))

	r := f.listen("/dev/releases/events?since=" + list.Cursor)
	first, at := r.transition()
	second, _ := r.transition()
	if first.Status != "pending-upgrade" || second.Status != "deployed" {
		t.Fatalf("got %+v, %+v", first, second)
	}
	r.reset()
	// A browser reconnects with the URL of its first request.
	r = f.listen("/dev/releases/events?since="+list.Cursor, "Last-Event-ID", at.id)
	if again, _ := r.transition(); again != second {
		t.Errorf("resumed with %+v, want %+v", again, second)
	}
}

func TestAnUnknownPositionIsAnsweredWithReset(t *testing.T) {
	f := newFixture(t)
	f.server.LimitFeed("dev", 4096)
	var list releaseList
	f.do(http.MethodGet, "/dev/releases", "").decode(http.StatusOK, &list)
	for i := range 50 {
		f.releases.put(revision("shop", "web", i+1, decoder.StatusDeployed))
	}
	for _, since := range []string{list.Cursor, "junk", "otherepoch-3", list.Cursor + "99999", "-1"} {
		t.Run(since, func(t *testing.T) {
			r := f.listen("/dev/releases/events?since=" + since)
			reset, at := r.transition()
			if reset.Type != "RESET" {
				t.Fatalf("first frame %+v, want RESET", at)
			}
			// After the reset, events are sent from its position on.
			f.releases.put(revision("shop", "api", 1, decoder.StatusDeployed))
			if next, _ := r.transition(); next.Name != "api" {
				t.Errorf("after the reset came %+v", next)
			}
			r.reset()
			r = f.listen("/dev/releases/events", "Last-Event-ID", at.id)
			if next, _ := r.transition(); next.Name != "api" {
				t.Errorf("resumed at the reset with %+v", next)
			}
		})
	}
}

func TestASlowReaderOfTransitionsDelaysNobody(t *testing.T) {
	f := newFixture(t)
	f.server.LimitFeed("dev", 64<<10)
	slow, quick := f.listen("/dev/releases/events"), f.listen("/dev/releases/events")
	const count = 5_000 // of 4 KB each, more than the kernel buffers for the slow reader
	for i := range count {
		r := revision("shop", fmt.Sprint("r", i), 1, decoder.StatusDeployed)
		r.Header.Description = strings.Repeat("x", 4<<10)
		f.releases.put(r)
		if got, _ := quick.transition(); got.Name != fmt.Sprint("r", i) {
			t.Fatalf("the quick reader got %+v at %d", got, i)
		}
	}
	for {
		got, _ := slow.transition()
		if got.Type == "RESET" {
			break
		}
		if got.Name == fmt.Sprint("r", count-1) {
			t.Fatal("the slow reader never fell behind: the test proves nothing")
		}
	}
	f.releases.put(revision("shop", "last", 1, decoder.StatusDeployed))
	for {
		got, _ := slow.transition()
		if got.Name == "last" {
			break
		}
		if got.Type == "RESET" {
			// The reader fell behind twice. The second reset also covers the
			// changes in between.
			f.releases.put(revision("shop", "last", 1, decoder.StatusDeployed))
		}
	}
}

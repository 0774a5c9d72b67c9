package streamtest_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/streamtest"
)

func TestAStreamIsReadFrameByFrame(t *testing.T) {
	const text = "retry: 1500\n\nid: s.1\nevent: STARTED\ndata: {}\n\nevent: HEARTBEAT\ndata: {}\n\nid: s.2\nevent: LOG\ndata: {\"line\":\"a: b\"}\n\n"
	all, err := streamtest.Parse([]byte(text))
	started, beat, line := streamtest.Frame{ID: "s.1", Event: "STARTED", Data: "{}"}, streamtest.Frame{Event: "HEARTBEAT", Data: "{}"}, streamtest.Frame{ID: "s.2", Event: "LOG", Data: `{"line":"a: b"}`}
	if diff := cmp.Diff([]streamtest.Frame{started, beat, line}, all); diff != "" || err != nil {
		t.Errorf("frames, %v (-want +got):\n%s", err, diff)
	}
	reader := streamtest.NewReader(strings.NewReader(text))
	for _, want := range []streamtest.Frame{started, line} {
		if got, err := reader.Stored(); got != want || err != nil {
			t.Errorf("the next stored frame is %+v, %v, want %+v", got, err, want)
		}
	}
	if _, err := reader.Stored(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestAStreamThatBreaksOffIsNotAtItsEnd(t *testing.T) {
	for _, text := range []string{"event: LOG\n", "event: LO", "event: LOG\ndata: {}\n"} {
		if _, err := streamtest.Parse([]byte(text)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"color: red\n\n", "event: A\nevent: B\n\n", ": a comment\n\n"} {
		if _, err := streamtest.Parse([]byte(text)); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFrameNamesTheEventThatItHolds(t *testing.T) {
	data, err := stream.Frame(helmtrail.Event{Seq: 7, Type: helmtrail.TypeLog, SessionID: "s", Body: &helmtrail.LogLine{Line: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	frames, err := streamtest.Parse(data)
	if err != nil || len(frames) != 1 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if e, err := frames[0].Decode(); err != nil || e.Seq != 7 {
		t.Errorf("decoded %+v, %v", e, err)
	}
	other := frames[0]
	other.ID = "s.8"
	if _, err := other.Decode(); err == nil {
		t.Error("a frame with another id was accepted")
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// The causes of a failed operation are those standing when helm gave up: here
// helm has uninstalled all objects by the time the session ends.
func TestCausesOutliveTheObjects(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "doesnotexist", "replicas": 3},
			"options": object{"wait": true, "rollbackOnFailure": true, "timeoutSeconds": 10},
		})
		events := h.events(t.Context(), t, answer.Events, 1)
		live := false
		for _, e := range events {
			if body, ok := e.Body.(*stream.ResourceStatus); ok && len(body.Summary.Causes) > 0 {
				live = live || isMissingImage(body.Summary.Causes[0])
			}
		}
		if !live {
			t.Error("the cause was not told while helm waited")
		}
		kind, last := end(t, events)
		if kind != stream.TypeFailed || last.Release != nil {
			t.Errorf("the session ended %s with release %+v, want FAILED and no release", kind, last.Release)
		}
		if len(last.Causes) != 1 || !isMissingImage(last.Causes[0]) || last.Causes[0].Count != 3 {
			t.Errorf("causes at the end: %+v", last.Causes)
		}
	})
}

func isMissingImage(c stream.Cause) bool {
	return c.Object.Kind == "Pod" && c.Container == "web" && c.Reason == "ImagePullBackOff" && c.Final &&
		strings.HasPrefix(c.Text, "Container web of Pod web-") && strings.Contains(c.Text, "cannot pull its image web:doesnotexist: ")
}

// Each operation that cannot succeed ends FAILED with the right first cause in
// plain words, which was in the stream two seconds after Kubernetes knew it at
// the latest. The Helms take turns: what the cluster says does not depend on who
// waits.
func TestAFailedOperationSaysFirstWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder, servers := t.TempDir(), map[int]*helmtrail{}
	for i, fault := range clustertest.Faults {
		clustertest.ChartOf(t, folder, fmt.Sprintf("fault-%d", i), fault.Objects)
	}
	for _, major := range clustertest.Versions {
		servers[major] = serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", major)), charts: folder})
	}
	for i, fault := range clustertest.Faults {
		major := clustertest.Versions[i%len(clustertest.Versions)]
		t.Run(fmt.Sprintf("%s, helm %d", fault.Name, major), func(t *testing.T) {
			t.Parallel()
			saysFirstWhatIsWrong(t, servers[major], fmt.Sprintf("fault-%d", i), fault)
		})
	}
}

func saysFirstWhatIsWrong(t *testing.T, h *helmtrail, chart string, fault clustertest.Fault) {
	namespace := clustertest.Namespace(t)
	if fault.Prepare != nil {
		fault.Prepare(t, namespace)
	}
	known := clustertest.Listen(t, fault.Kind, namespace, regexp.MustCompile(fault.Says))
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "bad", "chart": object{"ref": chart}, "options": object{"wait": true, "timeoutSeconds": 8},
	})
	is := func(c stream.Cause) bool {
		return fault.Cause.Matches(c.Object.Kind, c.Object.Name, c.Container, c.Reason, c.Text, c.Final)
	}
	delay := time.Duration(-1)
	var last *stream.End
	var kind stream.Type
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e stream.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		switch body := e.Body.(type) {
		case *stream.ResourceStatus:
			if delay < 0 && len(body.Summary.Causes) > 0 && is(body.Summary.Causes[0]) {
				delay, _ = known.Since(time.Now()) // 0 when it came before the bare watch's
			}
		case *stream.End:
			kind, last = e.Type, body
		}
		return true
	})
	if err != nil || kind != stream.TypeFailed {
		t.Fatalf("the session ended %q, %v", kind, err)
	}
	if len(last.Causes) == 0 || !is(last.Causes[0]) || last.Causes[0].Count != fault.Cause.Count {
		t.Errorf("the causes at the end are %+v, want first %+v", last.Causes, fault.Cause)
	}
	if delay < 0 || delay > 2*time.Second {
		t.Errorf("the cause was in the stream %v after Kubernetes knew it, if at all", delay)
	}
	for _, c := range last.Causes {
		crashed := c.Reason == "CrashLoopBackOff" || c.Reason == "BackoffLimitExceeded"
		if crashed && !strings.HasSuffix(c.Log, "fatal: made to end badly") {
			t.Errorf("the log of container %s is %q", c.Container, c.Log)
		}
	}
}

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

// So it is when somebody has cancelled it before helm gave up.
func TestCausesOutliveACancelledInstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "doesnotexist"},
			"options": object{"wait": true, "rollbackOnFailure": true, "timeoutSeconds": 60},
		})
		h.awaitEvent(t, answer, hasCause)
		if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
			t.Fatalf("cancel answered %d", code)
		}
		kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
		if kind != stream.TypeCanceled || last.Release != nil {
			t.Errorf("the session ended %s with release %+v, want CANCELED and no release", kind, last.Release)
		}
		if len(last.Causes) != 1 || !isMissingImage(last.Causes[0]) {
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
// waits. It runs before the tests that are parallel, and a few at a time: every
// starting helm takes the processor for a second, which is not what is measured.
func TestAFailedOperationSaysFirstWhatIsWrong(t *testing.T) {
	folder, servers := t.TempDir(), map[int]*server{}
	for i, fault := range clustertest.Faults {
		clustertest.ChartOf(t, folder, fmt.Sprintf("fault-%d", i), fault.Objects)
	}
	for _, major := range clustertest.Versions {
		servers[major] = serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", major)), charts: folder})
	}
	places := make(chan struct{}, 3)
	for i, fault := range clustertest.Faults {
		major := clustertest.Versions[i%len(clustertest.Versions)]
		t.Run(fmt.Sprintf("%s, helm %d", fault.Name, major), func(t *testing.T) {
			t.Parallel()
			places <- struct{}{}
			defer func() { <-places }()
			saysFirstWhatIsWrong(t, servers[major], fmt.Sprintf("fault-%d", i), fault)
		})
	}
}

func saysFirstWhatIsWrong(t *testing.T, h *server, chart string, fault clustertest.Fault) {
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
				delay = 0 // it may come before the bare watch's
				if since, ok := known.Since(time.Now()); ok {
					delay = since
				}
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
	if _, ok := known.Since(time.Now()); !ok {
		t.Errorf("Kubernetes never said %s", fault.Says)
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

// Helm 3 waits for a load balancer, which kstatus does not, and says nothing but
// that its time is over.
func TestAServiceWithoutALoadBalancerIsWhyHelm3GaveUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	clustertest.ChartOf(t, folder, "open", "{apiVersion: v1, kind: Service, metadata: {name: open}, spec: {type: LoadBalancer, ports: [{port: 80}]}}\n")
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm3"), charts: folder}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "open", "chart": object{"ref": "open"}, "options": object{"wait": true, "timeoutSeconds": 3},
	})
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != stream.TypeFailed || len(last.Causes) != 1 || last.Causes[0].Text != "Service open has been given no address by a load balancer yet" {
		t.Errorf("the session ended %s, %s, with the causes %+v", kind, last.Message, last.Causes)
	}
}

// A hook that fails or hangs was told by nothing but silence, and then
// "BackoffLimitExceeded" (https://github.com/helm/helm/issues/4010): its Job, its
// pod and why are in the stream while helm says nothing and has made nothing.
func TestAHookThatHangsIsToldWhileHelmIsSilent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	clustertest.ChartOf(t, folder, "hooked", `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}
spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: sql, image: "sql:crash"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: made}
`)
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h := serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", major)), charts: folder})
			namespace := clustertest.Namespace(t)
			answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "hooked", "chart": object{"ref": "hooked"}, "options": object{"timeoutSeconds": 8}})
			var rows []stream.Resource
			var told *stream.Cause
			beats := 0
			err := h.frames(t.Context(), answer.Events, func(f frame) bool {
				var e stream.Event
				if err := json.Unmarshal([]byte(f.data), &e); err != nil {
					t.Error(err)
					return false
				}
				switch body := e.Body.(type) {
				case *stream.ResourceStatus:
					if rows = append(rows, body.Resources...); len(body.Summary.Causes) > 0 {
						told = &body.Summary.Causes[0]
					}
				case *stream.Heartbeat:
					beats++
				}
				return !e.Type.Terminal() && (told == nil || told.Log == "" || beats < 3)
			})
			if err != nil {
				t.Fatal(err)
			}
			if told == nil || told.Object.Kind != "Pod" || told.Container != "sql" || told.Reason != "CrashLoopBackOff" || !strings.HasSuffix(told.Log, "fatal: made to end badly") || beats < 3 {
				t.Errorf("before the end came %d heartbeats and the cause %+v", beats, told)
			}
			for _, row := range rows {
				want := map[string]string{"Job": "Progressing", "ConfigMap": "NotFound"}[row.Kind]
				if want != "" && row.Status != want || row.Kind == "Job" && row.Hook != "pre-install" {
					t.Errorf("while the hook runs there is the row %+v", row)
				}
			}
			if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != stream.TypeFailed || len(last.Causes) == 0 || last.Causes[0].Container != "sql" {
				t.Errorf("the session ended %s with the causes %+v", kind, last.Causes)
			}
		})
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// The causes of a failed operation are those at the time when Helm gave up. Here
// Helm has uninstalled all objects before the session ends.
func TestCausesOutliveTheObjects(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "doesnotexist", "replicas": 3},
			"options": object{"wait": true, "rollbackOnFailure": true, "timeoutSeconds": 300},
		})
		h.giveUpWhen(t, answer, hasCauses(3))
		events := h.events(t.Context(), t, answer.Events, 1)
		live := false
		for _, e := range events {
			if body, ok := e.Body.(*helmtrail.ResourceStatus); ok && len(body.Summary.Causes) > 0 {
				live = live || isMissingImage(body.Summary.Causes[0])
			}
		}
		if !live {
			t.Error("no event named the cause while helm waited")
		}
		kind, last := end(t, events)
		if kind != helmtrail.TypeFailed || last.Release != nil {
			t.Errorf("the session ended %s with release %+v, want FAILED and no release", kind, last.Release)
		}
		if len(last.Causes) != 1 || !isMissingImage(last.Causes[0]) || last.Causes[0].Count != 3 {
			t.Errorf("causes at the end: %+v", last.Causes)
		}
	})
}

// The same holds if somebody cancels the install before Helm gives up.
func TestCausesOutliveACanceledInstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "doesnotexist"},
			"options": object{"wait": true, "rollbackOnFailure": true, "timeoutSeconds": 60},
		})
		h.awaitEvent(t, answer, hasCause)
		if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
			t.Fatalf("cancel answered %d", code)
		}
		kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
		if kind != helmtrail.TypeCanceled || last.Release != nil {
			t.Errorf("the session ended %s with release %+v, want CANCELED and no release", kind, last.Release)
		}
		if len(last.Causes) != 1 || !isMissingImage(last.Causes[0]) {
			t.Errorf("causes at the end: %+v", last.Causes)
		}
	})
}

// hasCauses returns a function that reports whether an event's first cause stands for
// count objects.
func hasCauses(count int) func(helmtrail.Event) bool {
	return func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.ResourceStatus)
		return ok && len(body.Summary.Causes) > 0 && body.Summary.Causes[0].Count == count
	}
}

func isMissingImage(c health.Cause) bool {
	return c.Object.Kind == "Pod" && c.Container == "web" && c.Reason == "ImagePullBackOff" && c.Final &&
		strings.HasPrefix(c.Text, "Container web of Pod web-") && strings.Contains(c.Text, "cannot pull its image web:doesnotexist: ")
}

// Each operation that cannot succeed ends FAILED with the right first cause in
// plain words. The test logs how long after Kubernetes' own report each cause is
// in the stream; its limit only tells a watch from a periodic list. The two Helms
// alternate: the cluster's state does not depend on which of them waits.
func TestAFailedOperationHasTheRightFirstCause(t *testing.T) {
	servers := map[int]*server{}
	for _, major := range clustertest.Versions {
		servers[major] = shared.on(t, clustertest.Binary(t, fmt.Sprintf("helm%d", major)))
	}
	for i, fault := range clustertest.Faults {
		clustertest.ChartOf(t, shared.charts(), fmt.Sprintf("fault-%d", i), fault.Objects)
	}
	places := make(chan struct{}, 3)
	for i, fault := range clustertest.Faults {
		major := clustertest.Versions[i%len(clustertest.Versions)]
		t.Run(fmt.Sprintf("%s, helm %d", fault.Name, major), func(t *testing.T) {
			t.Parallel()
			places <- struct{}{}
			defer func() { <-places }()
			hasTheRightFirstCause(t, servers[major], fmt.Sprintf("fault-%d", i), fault)
		})
	}
}

func hasTheRightFirstCause(t *testing.T, h *server, chart string, fault clustertest.Fault) {
	namespace := clustertest.Namespace(t)
	if fault.Prepare != nil {
		fault.Prepare(t, namespace)
	}
	known := clustertest.Listen(t, fault.Kind, namespace, regexp.MustCompile(fault.Says))
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "bad", "chart": object{"ref": chart}, "options": object{"wait": true, "timeoutSeconds": 300},
	})
	is := func(c health.Cause) bool {
		return fault.Cause.Matches(c.Object.Kind, c.Object.Name, c.Container, c.Reason, c.Text, c.Final)
	}
	// expected reports whether a cause is the fault's and complete.
	expected := func(c health.Cause) bool {
		return is(c) && c.Count == fault.Cause.Count && (!crashed(c) || c.Log != "")
	}
	var first time.Time
	var last *helmtrail.End
	var kind helmtrail.Type
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		switch body := e.Body.(type) {
		case *helmtrail.ResourceStatus:
			if len(body.Summary.Causes) == 0 {
				break
			}
			if first.IsZero() && is(body.Summary.Causes[0]) {
				first = e.Time
			}
			if expected(body.Summary.Causes[0]) {
				giveUp(t, answer.SessionID)
			}
		case *helmtrail.End:
			kind, last = e.Type, body
		}
		return true
	})
	if err != nil || kind != helmtrail.TypeFailed {
		t.Fatalf("the session ended %q, %v", kind, err)
	}
	if len(last.Causes) == 0 || !is(last.Causes[0]) || last.Causes[0].Count != fault.Cause.Count {
		t.Errorf("the causes at the end are %+v, want first %+v", last.Causes, fault.Cause)
	}
	delay := first.Sub(known.At(t))
	t.Logf("the cause was in the stream %v after Kubernetes knew it", delay)
	if first.IsZero() || delay > 3*atOnce {
		t.Errorf("the cause was in the stream %v after Kubernetes knew it, if at all", delay)
	}
	for _, c := range last.Causes {
		if crashed(c) && !strings.HasSuffix(c.Log, "fatal: made to end badly") {
			t.Errorf("the log of container %s is %q", c.Container, c.Log)
		}
	}
}

// crashed reports whether a cause is a container that failed and whose log gives the
// reason.
func crashed(c health.Cause) bool {
	return c.Reason == "CrashLoopBackOff" || c.Reason == "BackoffLimitExceeded"
}

// Helm 3 waits for a load balancer, but kstatus does not. Helm's error only says
// that it timed out.
func TestAMissingLoadBalancerIsTheCauseForHelm3(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm3")), clustertest.Namespace(t)
	clustertest.ChartOf(t, shared.charts(), "open", "{apiVersion: v1, kind: Service, metadata: {name: open}, spec: {type: LoadBalancer, ports: [{port: 80}]}}\n")
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "open", "chart": object{"ref": "open"}, "options": object{"wait": true, "timeoutSeconds": 300},
	})
	h.giveUpWhen(t, answer, hasObject("Service"))
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeFailed || len(last.Causes) != 1 || last.Causes[0].Text != "Service open has been given no address by a load balancer yet" {
		t.Errorf("the session ended %s, %s, with the causes %+v", kind, last.Message, last.Causes)
	}
}

// Helm reports nothing about a hanging hook until it fails with
// "BackoffLimitExceeded" (https://github.com/helm/helm/issues/4010). The stream
// shows the hook's Job, its Pod and the cause while Helm is silent and has
// created nothing else.
func TestAHangingHookIsShownWhileHelmIsSilent(t *testing.T) {
	t.Parallel()
	const chart = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}
spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: sql, image: "sql:crash"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: made}
`
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h, namespace := shared.on(t, clustertest.Binary(t, fmt.Sprintf("helm%d", major))), clustertest.Namespace(t)
			name := fmt.Sprintf("hooked-%d", major)
			clustertest.ChartOf(t, shared.charts(), name, chart)
			answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "hooked", "chart": object{"ref": name}, "options": object{"timeoutSeconds": 300}})
			var rows []health.Resource
			var cause *health.Cause
			beats := 0
			err := h.frames(t.Context(), answer.Events, func(f frame) bool {
				var e helmtrail.Event
				if err := json.Unmarshal([]byte(f.data), &e); err != nil {
					t.Error(err)
					return false
				}
				switch body := e.Body.(type) {
				case *helmtrail.ResourceStatus:
					if rows = append(rows, body.Resources...); len(body.Summary.Causes) > 0 {
						cause = &body.Summary.Causes[0]
					}
				case *helmtrail.Heartbeat:
					beats++
				}
				return !e.Type.Terminal() && (cause == nil || cause.Log == "" || beats < 3)
			})
			if err != nil {
				t.Fatal(err)
			}
			giveUp(t, answer.SessionID)
			if cause == nil || cause.Object.Kind != "Pod" || cause.Container != "sql" || cause.Reason != "CrashLoopBackOff" || !strings.HasSuffix(cause.Log, "fatal: made to end badly") || beats < 3 {
				t.Errorf("before the end there were %d heartbeats and the cause %+v", beats, cause)
			}
			for _, row := range rows {
				want := map[string]string{"Job": "Progressing", "ConfigMap": "NotFound"}[row.Kind]
				if want != "" && row.Status != want || row.Kind == "Job" && row.Hook != "pre-install" {
					t.Errorf("while the hook runs, the row is %+v", row)
				}
			}
			if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeFailed || len(last.Causes) == 0 || last.Causes[0].Container != "sql" {
				t.Errorf("the session ended %s with the causes %+v", kind, last.Causes)
			}
		})
	}
}

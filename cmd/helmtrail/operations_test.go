package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// eachHelm runs the test for both Helms concurrently.
func eachHelm(t *testing.T, f func(t *testing.T, helm string)) {
	t.Parallel()
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			f(t, clustertest.Binary(t, fmt.Sprintf("helm%d", major)))
		})
	}
}

func TestAnInstallIsReportedFromStartToEnd(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": never,
			"options": object{"wait": true, "timeoutSeconds": 300},
		})
		var half, resumed []helmtrail.Event
		joined := false
		var late sync.WaitGroup
		var first []helmtrail.Event
		err := h.frames(t.Context(), answer.Events, func(f frame) bool {
			var e helmtrail.Event
			if err := json.Unmarshal([]byte(f.data), &e); err != nil {
				t.Error(err)
				return false
			}
			if e.Type == helmtrail.TypeHeartbeat {
				return true
			}
			first = append(first, e)
			if hasCause(e) && !joined {
				joined = true
				becomesReady(t, namespace)
				late.Go(func() { half = h.events(t.Context(), t, answer.Events, 1) })
				late.Go(func() { resumed = h.events(t.Context(), t, answer.Events+"&lastEventId=3", 4) })
			}
			return true
		})
		late.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, half); diff != "" {
			t.Errorf("a second reader that joined half way differs (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(first[3:], resumed); diff != "" {
			t.Errorf("a third reader that resumed from 3 differs (-first +third):\n%s", diff)
		}
		checkInstall(t, first)

		var release struct {
			Revision int
			Status   string
			Session  any
		}
		h.get(t, h.release(namespace, "web"), &release)
		if release.Revision != 1 || release.Status != "deployed" || release.Session != nil {
			t.Errorf("the release is %+v, want revision 1 deployed without a session", release)
		}
	})
}

// checkInstall checks the stream of an install that waited for a Deployment to become
// ready.
func checkInstall(t *testing.T, events []helmtrail.Event) {
	t.Helper()
	started, ok := events[0].Body.(*helmtrail.Started)
	if !ok || started.Operation != helmtrail.OperationInstall || started.Release != "web" || started.TimeoutSeconds == nil || *started.TimeoutSeconds != 300 {
		t.Errorf("the first event is %s %+v", events[0].Type, events[0].Body)
	}
	if diff := cmp.Diff([]string{"1 pending-install", "1 deployed"}, statuses(events)); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	index := func(what string, is func(helmtrail.Event) bool) int {
		i := slices.IndexFunc(events, is)
		if i < 0 {
			t.Fatalf("no %s", what)
		}
		return i
	}
	deployment := func(ready int) func(helmtrail.Event) bool {
		return func(e helmtrail.Event) bool {
			body, ok := e.Body.(*helmtrail.ResourceStatus)
			return ok && slices.ContainsFunc(body.Resources, func(r health.Resource) bool {
				return r.Kind == "Deployment" && r.Ready == ready && r.Total == 1
			})
		}
	}
	status := func(want decoder.Status) func(helmtrail.Event) bool {
		return func(e helmtrail.Event) bool {
			body, ok := e.Body.(*helmtrail.ReleaseStatus)
			return ok && body.Status == want
		}
	}
	deployed := index("deployed", status("deployed"))
	waiting, ready := index("Deployment 0/1", deployment(0)), index("Deployment 1/1", deployment(1))
	if waiting > ready {
		t.Errorf("the Deployment was ready in event %d and not ready in event %d", ready, waiting)
	}
	if !slices.ContainsFunc(events[:deployed], func(e helmtrail.Event) bool { return e.Type == helmtrail.TypeLog }) {
		t.Error("there is no LOG before deployed")
	}
	kind, last := end(t, events)
	if kind != helmtrail.TypeCompleted || last.Agrees == nil || !*last.Agrees || last.ExitCode == nil || *last.ExitCode != 0 {
		t.Errorf("the terminal event is %s %+v", kind, last)
	}
	if diff := cmp.Diff(&helmtrail.RevisionStatus{Revision: 1, Status: "deployed"}, last.Release); diff != "" {
		t.Errorf("release (-want +got):\n%s", diff)
	}
	if last.Notes != "Serving web revision 1.\n" {
		t.Errorf("notes %q", last.Notes)
	}
}

func TestAFailedUpgradeThatHelmRollsBackAndAnUninstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		submit := func(method, path string, body any) []helmtrail.Event {
			return h.events(t.Context(), t, h.submit(t, method, path, body).Events, 1)
		}
		release := h.release(namespace, "web")
		chart := object{"ref": "web"}
		submit(http.MethodPost, h.releases(namespace), object{"name": "web", "chart": chart, "options": object{"wait": true}})

		upgrade := h.submit(t, http.MethodPut, release, object{
			"chart": chart, "values": never, "options": object{"wait": true, "timeoutSeconds": 300, "rollbackOnFailure": true},
		})
		h.giveUpWhen(t, upgrade, hasCause)
		failed := h.events(t.Context(), t, upgrade.Events, 1)
		kind, last := end(t, failed)
		if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonExit || last.ExitCode == nil || *last.ExitCode != 1 || last.Message == "" {
			t.Errorf("the upgrade ended %s %+v, want FAILED by helm's exit 1 with its error", kind, last)
		}
		if diff := cmp.Diff(&helmtrail.RevisionStatus{Revision: 3, Status: "deployed"}, last.Release); diff != "" {
			t.Errorf("release (-want +got):\n%s", diff)
		}
		transitions := statuses(failed)
		at := -1
		for _, want := range []string{"2 pending-upgrade", "2 failed", "3 deployed"} {
			found := slices.Index(transitions, want)
			if found <= at {
				t.Errorf("%q is missing or out of order in %v", want, transitions)
			}
			at = found
		}
		for _, e := range failed {
			if body, ok := e.Body.(*helmtrail.ReleaseStatus); ok && body.Revision == 3 && body.Status == "deployed" && body.Description != "Rollback to 1" {
				t.Errorf("revision 3 is described as %q, want Rollback to 1", body.Description)
			}
		}

		rolledBack := submit(http.MethodPost, release+"/rollback", object{"revision": 1, "options": object{"wait": true}})
		if kind, last := end(t, rolledBack); kind != helmtrail.TypeCompleted || last.Agrees == nil || !*last.Agrees || last.Release.Revision != 4 {
			t.Errorf("the rollback ended %s %+v, want COMPLETED with revision 4", kind, last)
		}

		removed := submit(http.MethodDelete, release+"?wait=true", nil)
		if kind, last := end(t, removed); kind != helmtrail.TypeCompleted || last.Agrees == nil || !*last.Agrees || last.Release != nil {
			t.Errorf("the uninstall ended %s %+v, want COMPLETED without a release", kind, last)
		}
		if list := statuses(removed); !slices.Contains(list, "4 uninstalling") || !slices.Contains(list, "4 uninstalled") {
			t.Errorf("the uninstall's transitions are %v", list)
		}
		var answer struct{ Code string }
		if code := h.call(t, http.MethodGet, release, nil, &answer); code != http.StatusNotFound || answer.Code != "not_found" {
			t.Errorf("the release answers %d %s after its uninstall", code, answer.Code)
		}
	})
}

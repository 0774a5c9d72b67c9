package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// never has values for the test chart with which its Pod does not become ready.
var never = object{"tag": "doesnotexist"}

// becomesReady repairs the test chart's Deployment "web" that was installed with
// never. A Helm that waits for it then continues.
func becomesReady(t *testing.T, namespace string) {
	t.Helper()
	client, err := appsv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}`
	eventually(t, "the Deployment exists", func() bool {
		_, err := client.Deployments(namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// startInstall submits an install that waits forever. It returns once its revision is
// pending.
func (h *server) startInstall(t *testing.T, namespace string) accepted {
	t.Helper()
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never,
		"options": object{"wait": true, "timeoutSeconds": 120},
	})
	h.awaitEvent(t, answer, func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.ReleaseStatus)
		return ok && body.Status == "pending-install"
	})
	return answer
}

// awaitEvent reads a session's stream up to an event for which is returns true.
func (h *server) awaitEvent(t *testing.T, answer accepted, is func(helmtrail.Event) bool) {
	t.Helper()
	found := false
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		found = is(e)
		return !found
	})
	if err != nil || !found {
		t.Fatalf("the event did not arrive: %v", err)
	}
}

// hasObject returns a function that reports whether an event shows an existing
// object of a kind.
func hasObject(kind string) func(helmtrail.Event) bool {
	return func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.ResourceStatus)
		return ok && slices.ContainsFunc(body.Resources, func(r health.Resource) bool { return r.Kind == kind && r.Exists() })
	}
}

func isLine(line string) func(helmtrail.Event) bool {
	return func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.LogLine)
		return ok && body.Line == line
	}
}

func (h *server) cancel(t *testing.T, namespace string, answer accepted, body any) int {
	t.Helper()
	var ignored any
	return h.call(t, http.MethodPost, h.release(namespace, "web")+"/sessions/"+answer.SessionID+"/cancel", body, &ignored)
}

// item is a release as returned by GET.
type item struct {
	Revision int
	Status   string
	Session  *string
	Stuck    *stream.Stuck
}

func (h *server) item(t *testing.T, namespace string) item {
	t.Helper()
	var i item
	h.get(t, h.release(namespace, "web"), &i)
	return i
}

func TestCancelDuringAWaitLeavesTheReleaseFailedNotPending(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := shared.on(t, helm), clustertest.Namespace(t)
		answer := h.startInstall(t, namespace)
		h.awaitEvent(t, answer, hasObject("Deployment")) // the last one that helm creates
		if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
			t.Errorf("cancel answered %d", code)
		}
		// A second cancel is accepted too, unless the session has already ended.
		if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted && code != http.StatusConflict {
			t.Errorf("the second cancel answered %d", code)
		}
		events := h.events(t.Context(), t, answer.Events, 1)
		kind, last := end(t, events)
		if kind != helmtrail.TypeCanceled || last.ExitCode == nil || *last.ExitCode != 137 {
			t.Errorf("the session ended %s %+v, want CANCELED with 137", kind, last)
		}
		if last.Process == nil || last.Process.Code == nil || *last.Process.Code != 1 {
			t.Errorf("helm ended %+v, want exit code 1", last.Process)
		}
		if diff := cmp.Diff([]string{"1 pending-install", "1 failed"}, statuses(events)); diff != "" {
			t.Errorf("transitions (-want +got):\n%s", diff)
		}
		var left []string
		for _, o := range last.Leftovers {
			left = append(left, o.Kind+"/"+o.Name)
		}
		slices.Sort(left)
		if diff := cmp.Diff([]string{"ConfigMap/web", "Deployment/web", "Service/web"}, left); diff != "" {
			t.Errorf("leftovers (-want +got):\n%s", diff)
		}
		if i := h.item(t, namespace); i.Status != "failed" || i.Stuck != nil {
			t.Errorf("the release is %+v, want failed and not stuck", i)
		}
		if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
			t.Errorf("canceling a canceled session answered %d", code)
		}
	})
}

func TestForceKillsAHelmThatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: standIn(t, "trap '' TERM; echo ready; while :; do sleep 0.05; done")}), clustertest.Namespace(t)
	// With rollbackOnFailure Helm gets its timeout, an hour, to end after a SIGTERM.
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "options": object{"rollbackOnFailure": true, "timeoutSeconds": 3600},
	})
	h.awaitEvent(t, answer, isLine("ready"))
	h.cancel(t, namespace, answer, nil)
	h.cancel(t, namespace, answer, object{"force": true})
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeCanceled || last.Process == nil || last.Process.Signal != "SIGKILL" {
		t.Errorf("the session ended %s %+v, want CANCELED by SIGKILL", kind, last.Process)
	}
}

func TestTheDeadlineEndsTheSession(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never,
		// By then Helm must be waiting, however busy the machine is.
		"options": object{"wait": true, "timeoutSeconds": 120, "deadlineSeconds": 45},
	})
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonTimeout || !strings.Contains(last.Message, "deadline of 45s") {
		t.Errorf("the session ended %s %+v, want FAILED, timeout", kind, last)
	}
	if last.Release == nil || last.Release.Status != "failed" {
		t.Errorf("the release is %+v, want failed", last.Release)
	}
}

// Users could not tell a live operation from a dead one:
// https://github.com/helm/helm/issues/10599.
func TestASecondOperationIsRejectedWithTheRunningSession(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
	answer := h.startInstall(t, namespace)
	var refused struct {
		Code    string
		Details struct{ SessionID string }
	}
	code := h.call(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}}, &refused)
	if code != http.StatusConflict || refused.Code != "operation_in_progress" || refused.Details.SessionID != answer.SessionID {
		t.Errorf("a second install answered %d %+v, want 409 with session %s", code, refused, answer.SessionID)
	}
	other := clustertest.Namespace(t)
	second := h.submit(t, http.MethodPost, h.releases(other), object{"name": "web", "chart": object{"ref": "web"}})
	if kind, _ := end(t, h.events(t.Context(), t, second.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Errorf("the same name in another namespace ended %s", kind)
	}
	h.cancel(t, namespace, answer, object{"force": true})
	end(t, h.events(t.Context(), t, answer.Events, 1))
}

// Helm itself rejects installs and upgrades over a pending revision. It does not reject
// rollbacks and uninstalls, which then leave two revisions deployed.
func TestAnOutsideOperationHasASessionAndIsNotOverridden(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
	command := exec.CommandContext(t.Context(), clustertest.Binary(t, "helm4"), "install", "web", clustertest.Chart(t), "--namespace", namespace,
		"--set", "tag=doesnotexist", "--wait", "--timeout", "300s")
	command.Env = clustertest.HelmEnvironment(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	session := ""
	eventually(t, "an observed session", func() bool {
		var i item
		h.call(t, http.MethodGet, h.release(namespace, "web"), nil, &i)
		if i.Session != nil {
			session = *i.Session
		}
		return session != ""
	})
	for _, request := range []struct {
		method, path string
		body         any
	}{
		{http.MethodDelete, h.release(namespace, "web"), nil},
		{http.MethodPost, h.release(namespace, "web") + "/rollback", object{"revision": 1}},
	} {
		var refused struct{ Code string }
		if code := h.call(t, request.method, request.path, request.body, &refused); code != http.StatusConflict || refused.Code != "pending" {
			t.Errorf("%s %s answered %d %s, want 409 pending", request.method, request.path, code, refused.Code)
		}
	}
	becomesReady(t, namespace)
	events := h.events(t.Context(), t, h.release(namespace, "web")+"/events", 1)
	if err := command.Wait(); err != nil {
		t.Errorf("helm by hand: %v", err)
	}
	started := events[0].Body.(*helmtrail.Started)
	if started.Origin != helmtrail.OriginOutside || started.Operation != helmtrail.OperationInstall || started.Command != nil || started.TimeoutSeconds != nil {
		t.Errorf("the session started %+v, want an install from outside and no other fields", started)
	}
	if diff := cmp.Diff([]string{"1 pending-install", "1 deployed"}, statuses(events)); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if kind, last := end(t, events); kind != helmtrail.TypeCompleted || last.ExitCode != nil || last.Process != nil {
		t.Errorf("the session ended %s %+v, want COMPLETED without a process", kind, last)
	}
	var sessions struct{ Items []helmtrail.Session }
	h.get(t, h.release(namespace, "web")+"/sessions", &sessions)
	if len(sessions.Items) != 1 || sessions.Items[0].ID != session || sessions.Items[0].Origin != helmtrail.OriginOutside {
		t.Errorf("the sessions are %+v", sessions.Items)
	}
}

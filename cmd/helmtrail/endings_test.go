package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// never is the test chart's values with which its Pod does not become ready.
var never = object{"tag": "doesnotexist"}

// startInstall submits an install that waits for ever, and blocks until its
// revision is pending.
func (h *helmtrail) startInstall(t *testing.T, namespace string) accepted {
	t.Helper()
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never,
		"options": object{"wait": true, "timeoutSeconds": 120},
	})
	h.awaitEvent(t, answer, func(e stream.Event) bool {
		body, ok := e.Body.(*stream.ReleaseStatus)
		return ok && body.Status == "pending-install"
	})
	return answer
}

// awaitEvent reads a session's stream until an event is what is asked for.
func (h *helmtrail) awaitEvent(t *testing.T, answer accepted, is func(stream.Event) bool) {
	t.Helper()
	found := false
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e stream.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		found = is(e)
		return !found
	})
	if err != nil || !found {
		t.Fatalf("the event did not come: %v", err)
	}
}

// hasDeployment tells whether the release's Deployment is there.
func hasDeployment(e stream.Event) bool {
	body, ok := e.Body.(*stream.ResourceStatus)
	return ok && slices.ContainsFunc(body.Resources, func(r stream.Resource) bool { return r.Kind == "Deployment" && r.Exists() })
}

func isLine(line string) func(stream.Event) bool {
	return func(e stream.Event) bool {
		body, ok := e.Body.(*stream.LogLine)
		return ok && body.Line == line
	}
}

func (h *helmtrail) cancel(t *testing.T, namespace string, answer accepted, body any) int {
	t.Helper()
	var ignored any
	return h.call(t, http.MethodPost, h.release(namespace, "web")+"/sessions/"+answer.SessionID+"/cancel", body, &ignored)
}

// item is a release as GET answers it.
type item struct {
	Revision int
	Status   string
	Session  *string
	Stuck    *stream.Stuck
}

func (h *helmtrail) item(t *testing.T, namespace string) item {
	t.Helper()
	var i item
	h.get(t, h.release(namespace, "web"), &i)
	return i
}

func TestCancelDuringAWaitLeavesTheReleaseFailedNotPending(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
		answer := h.startInstall(t, namespace)
		h.awaitEvent(t, answer, hasDeployment) // the last object that helm makes
		for range 2 {                          // cancelling again is no error
			if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
				t.Errorf("cancel answered %d", code)
			}
		}
		events := h.events(t.Context(), t, answer.Events, 1)
		kind, last := end(t, events)
		if kind != stream.TypeCanceled || last.ExitCode == nil || *last.ExitCode != 137 {
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
			t.Errorf("cancelling a cancelled session answered %d", code)
		}
	})
}

func TestCancelOfAHelmThatIgnoresSIGTERM(t *testing.T) {
	h, namespace := serveOn(t, arguments{helm: standIn(t, "trap '' TERM; echo ready; while :; do sleep 0.05; done")}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	h.awaitEvent(t, answer, isLine("ready"))
	h.cancel(t, namespace, answer, nil)
	h.cancel(t, namespace, answer, object{"force": true})
	began := time.Now()
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != stream.TypeCanceled || last.Process == nil || last.Process.Signal != "SIGKILL" {
		t.Errorf("the session ended %s %+v, want CANCELED by SIGKILL", kind, last.Process)
	}
	if took := time.Since(began); took > stream.DefaultGrace/2 {
		t.Errorf("force took %v, half the grace of SIGTERM", took)
	}
}

func TestTheDeadlineEndsTheSession(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never,
		"options": object{"wait": true, "timeoutSeconds": 120, "deadlineSeconds": 5},
	})
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != stream.TypeFailed || last.Reason != stream.ReasonTimeout || !strings.Contains(last.Message, "deadline of 5s") {
		t.Errorf("the session ended %s %+v, want FAILED, timeout", kind, last)
	}
	if last.Release == nil || last.Release.Status != "failed" {
		t.Errorf("the release is %+v, want failed", last.Release)
	}
}

// processes finds helm and its supervisor by the session's folder, which is
// the supervisor's argument and part of helm's environment.
func processes(t *testing.T, session string) (supervisor, helm int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// A process that ends in between has neither.
		command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		environment, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		switch {
		case strings.Contains(string(command), superviseCommand) && strings.Contains(string(command), session):
			supervisor = pid
		case strings.Contains(string(environment), session):
			helm = pid
		}
	}
	return supervisor, helm
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("there is no such process")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
}

// Killing helm leaves pending-*, which the session says at once, and each of
// the three recoveries leads out of it:
// https://github.com/helm/helm/issues/9446.
func TestAKilledHelmLeavesAStuckReleaseThatCanBeRecovered(t *testing.T) {
	recoveries := []struct {
		strategy stream.Strategy
		status   string // of the release afterwards, "" when it is gone
	}{
		{stream.StrategyMarkFailed, "failed"},
		{stream.StrategyRollback, "deployed"},
		{stream.StrategyUninstall, ""},
	}
	eachHelm(t, func(t *testing.T, helm string) {
		h := serveOn(t, arguments{helm: helm})
		for _, recovery := range recoveries {
			namespace := clustertest.Namespace(t)
			answer := h.startInstall(t, namespace)
			_, pid := processes(t, answer.SessionID)
			kill(t, pid)
			kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
			if kind != stream.TypeFailed || last.Reason != stream.ReasonExit || last.Process.Signal != "SIGKILL" || last.Hint == "" {
				t.Errorf("%s: the session ended %s %+v, want FAILED by SIGKILL with a hint", recovery.strategy, kind, last)
			}
			stuck := h.item(t, namespace).Stuck
			if stuck == nil || stuck.Suspected || stuck.By != answer.SessionID {
				t.Fatalf("%s: the release is stuck: %+v, want by our session, for sure", recovery.strategy, stuck)
			}
			h.recover(t, namespace, recovery.strategy, *stuck, recovery.status)
		}
	})
}

func (h *helmtrail) recover(t *testing.T, namespace string, strategy stream.Strategy, stuck stream.Stuck, status string) {
	t.Helper()
	path := h.release(namespace, "web") + "/recover"
	var refused struct{ Code string }
	if code := h.call(t, http.MethodPost, path, object{"strategy": strategy, "resourceVersion": "1"}, &refused); code != http.StatusConflict || refused.Code != "changed" {
		t.Errorf("%s: a recovery of another state answered %d %s, want 409 changed", strategy, code, refused.Code)
	}
	answer := h.submit(t, http.MethodPost, path, object{"strategy": strategy, "resourceVersion": stuck.ResourceVersion})
	events := h.events(t.Context(), t, answer.Events, 1)
	if started := events[0].Body.(*stream.Started); started.Operation != stream.OperationRecover {
		t.Errorf("%s: the session's operation is %s, want recover", strategy, started.Operation)
	}
	kind, last := end(t, events)
	if kind != stream.TypeCompleted || last.Agrees == nil || !*last.Agrees {
		t.Errorf("%s: the recovery ended %s %+v, want COMPLETED that agrees", strategy, kind, last)
	}
	if status == "" {
		var gone any
		if code := h.call(t, http.MethodGet, h.release(namespace, "web"), nil, &gone); code != http.StatusNotFound {
			t.Errorf("%s: the release answers %d, want 404", strategy, code)
		}
		return
	}
	if i := h.item(t, namespace); i.Status != status || i.Stuck != nil {
		t.Errorf("%s: the release is %+v, want %s and not stuck", strategy, i, status)
	}
	if code := h.call(t, http.MethodPost, path, object{"strategy": strategy}, &refused); code != http.StatusConflict || refused.Code != "not_stuck" {
		t.Errorf("%s: a second recovery answered %d %s, want 409 not_stuck", strategy, code, refused.Code)
	}
}

func TestKillingTheSupervisorEndsTheSessionAndHelm(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		for _, both := range []bool{false, true} {
			h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
			answer := h.startInstall(t, namespace)
			supervisor, pid := processes(t, answer.SessionID)
			if both {
				// helm must not see its supervisor die, nor that helm's death.
				if err := syscall.Kill(supervisor, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				kill(t, pid)
			}
			kill(t, supervisor)
			kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
			if kind != stream.TypeFailed || last.Reason != stream.ReasonInterrupted || last.Process != nil {
				t.Errorf("both %v: the session ended %s %+v, want FAILED, interrupted, with helm's end unknown", both, kind, last)
			}
			if startedProcess(pid) {
				t.Errorf("both %v: helm (process %d) is still there", both, pid)
			}
			if i := h.item(t, namespace); both && (i.Stuck == nil || i.Stuck.By != answer.SessionID) {
				t.Errorf("the release is %+v, want stuck by our session", i)
			}
		}
	})
}

// startedProcess tells whether a process runs. One that has ended but was not
// reaped yet, as an orphan may be for a while, does not.
func startedProcess(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// After a kill -9 of helmtrail the supervisor goes on alone, and the next
// helmtrail tells the rest: a reader with Last-Event-ID gets every line once.
func TestAKilledHelmtrailLosesNoLine(t *testing.T) {
	t.Parallel()
	losesNoLine(t, nil, startProgram)
}

// With --on-stop=leave the same holds for one that is stopped in peace.
func TestAHelmtrailThatLeavesItsOperationsLosesNoLine(t *testing.T) {
	t.Parallel()
	losesNoLine(t, []string{"--on-stop", "leave", "--drain", "0s"}, serveOn)
}

// losesNoLine ends a helmtrail in the middle of an operation and starts
// another one on the same data directory.
func losesNoLine(t *testing.T, flags []string, start func(*testing.T, arguments) *helmtrail) {
	t.Helper()
	const lines = 400
	a := arguments{
		helm:    standIn(t, fmt.Sprintf("for i in $(seq 1 %d); do echo line $i; sleep 0.01; done", lines)),
		dataDir: t.TempDir(), charts: filepath.Dir(clustertest.Chart(t)), more: flags,
	}
	namespace := clustertest.Namespace(t)
	var seen []string
	lastID := ""
	take := func(f frame) {
		if f.id != "" {
			lastID = f.id
		}
		var e stream.Event
		if json.Unmarshal([]byte(f.data), &e) != nil {
			t.Errorf("not an event: %s", f.data)
		}
		if body, ok := e.Body.(*stream.LogLine); ok {
			seen = append(seen, body.Line)
		}
	}
	first := start(t, a)
	events := first.submit(t, http.MethodPost, first.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}}).Events
	var stopping sync.WaitGroup
	stop := sync.OnceFunc(func() { stopping.Go(first.stop) })
	// The stream breaks when the program ends, which is what is wanted.
	_ = first.frames(t.Context(), events, func(f frame) bool {
		take(f)
		if len(seen) >= 100 {
			stop()
		}
		return true
	})
	stopping.Wait()

	again := serveOn(t, a)
	ended := ""
	err := again.frames(t.Context(), events+"&lastEventId="+lastID, func(f frame) bool {
		take(f)
		ended = f.event
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range lines {
		want = append(want, fmt.Sprintf("line %d", i+1))
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if ended != string(stream.TypeCompleted) {
		t.Errorf("the last event is %s, want COMPLETED", ended)
	}
}

// startProgram runs the program as a process of its own, which stop kills.
func startProgram(t *testing.T, a arguments) *helmtrail {
	t.Helper()
	command := exec.Command(clustertest.Binary(t, "helmtrail"), "serve", "--kubeconfig", clustertest.Kubeconfig(t), "--listen", "127.0.0.1:0",
		"--helm", a.helm, "--data-dir", a.dataDir, "--chart-dir", a.charts)
	command.Args = append(command.Args, a.more...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	h := &helmtrail{client: &http.Client{Transport: &http.Transport{}}}
	h.stop = sync.OnceFunc(func() {
		kill(t, command.Process.Pid)
		_ = command.Wait() // it was killed
		h.client.CloseIdleConnections()
	})
	t.Cleanup(h.stop)
	line := make([]byte, 256)
	n, err := output.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(string(line[:n]), "http://")
	host, _, _ := strings.Cut(address, "/")
	h.url = "http://" + host
	h.waitReady(t)
	return h
}

// Users could not tell a live operation from a dead one:
// https://github.com/helm/helm/issues/10599.
func TestASecondOperationIsRefusedWithTheRunningSession(t *testing.T) {
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
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
	if kind, _ := end(t, h.events(t.Context(), t, second.Events, 1)); kind != stream.TypeCompleted {
		t.Errorf("the same name in another namespace ended %s", kind)
	}
	h.cancel(t, namespace, answer, object{"force": true})
	end(t, h.events(t.Context(), t, answer.Events, 1))
}

// helm refuses installs and upgrades over a pending revision, but not
// rollbacks and uninstalls, which then leave two revisions deployed.
func TestAnOutsideOperationHasASessionAndIsNotRunOver(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	command := exec.CommandContext(t.Context(), clustertest.Binary(t, "helm4"), "install", "web", clustertest.Chart(t), "--namespace", namespace,
		"--set", "tag=slow,delay=6s", "--wait", "--timeout", "60s")
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
	events := h.events(t.Context(), t, h.release(namespace, "web")+"/events", 1)
	if err := command.Wait(); err != nil {
		t.Errorf("helm by hand: %v", err)
	}
	started := events[0].Body.(*stream.Started)
	if started.Origin != stream.OriginOutside || started.Operation != stream.OperationInstall || started.Command != nil || started.TimeoutSeconds != nil {
		t.Errorf("the session started %+v, want an install from outside with nothing else known", started)
	}
	if diff := cmp.Diff([]string{"1 pending-install", "1 deployed"}, statuses(events)); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if kind, last := end(t, events); kind != stream.TypeCompleted || last.ExitCode != nil || last.Process != nil {
		t.Errorf("the session ended %s %+v, want COMPLETED with nothing known of the process", kind, last)
	}
	var sessions struct{ Items []stream.Session }
	h.get(t, h.release(namespace, "web")+"/sessions", &sessions)
	if len(sessions.Items) != 1 || sessions.Items[0].ID != session || sessions.Items[0].Origin != stream.OriginOutside {
		t.Errorf("the sessions are %+v", sessions.Items)
	}
}

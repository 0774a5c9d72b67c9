package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// processes returns the ids of Helm and its supervisor. It finds them by the session's
// folder, which is the supervisor's argument and in Helm's environment.
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
		// A process that ended in between has neither.
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
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// giveUp makes Helm end its wait with an error, like its own timeout: a SIGTERM
// cancels an install or upgrade (https://github.com/helm/helm/pull/9180). It does
// nothing if Helm has ended.
func giveUp(t *testing.T, session string) {
	t.Helper()
	_, helm := processes(t, session)
	if helm == 0 {
		return
	}
	process, err := os.FindProcess(helm)
	if err == nil {
		err = process.Signal(syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// giveUpWhen waits for an event of a session and then makes Helm give up.
func (h *server) giveUpWhen(t *testing.T, answer accepted, is func(helmtrail.Event) bool) {
	t.Helper()
	h.awaitEvent(t, answer, is)
	giveUp(t, answer.SessionID)
}

// A killed Helm leaves a pending status. The session reports that at once, and
// each of the three recoveries resolves it:
// https://github.com/helm/helm/issues/9446.
func TestAKilledHelmLeavesAStuckReleaseThatCanBeRecovered(t *testing.T) {
	recoveries := []struct {
		strategy helmtrail.Strategy
		status   string // of the release afterwards, "" if it is gone
	}{
		{helmtrail.StrategyMarkFailed, "failed"},
		{helmtrail.StrategyRollback, "deployed"},
		{helmtrail.StrategyUninstall, ""},
	}
	eachHelm(t, func(t *testing.T, helm string) {
		h := shared.on(t, helm)
		for _, recovery := range recoveries {
			namespace := clustertest.Namespace(t)
			answer := h.startInstall(t, namespace)
			_, pid := processes(t, answer.SessionID)
			kill(t, pid)
			kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
			if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonExit || last.Process.Signal != "SIGKILL" || last.Hint == "" {
				t.Errorf("%s: the session ended %s %+v, want FAILED by SIGKILL with a hint", recovery.strategy, kind, last)
			}
			stuck := h.item(t, namespace).Stuck
			if stuck == nil || stuck.Suspected || stuck.By != answer.SessionID {
				t.Fatalf("%s: the release is stuck: %+v, want left by our session, certainly", recovery.strategy, stuck)
			}
			h.recover(t, namespace, recovery.strategy, *stuck, recovery.status)
		}
	})
}

func (h *server) recover(t *testing.T, namespace string, strategy helmtrail.Strategy, stuck stream.Stuck, status string) {
	t.Helper()
	path := h.release(namespace, "web") + "/recover"
	var refused struct{ Code string }
	if code := h.call(t, http.MethodPost, path, object{"strategy": strategy, "resourceVersion": "1"}, &refused); code != http.StatusConflict || refused.Code != "changed" {
		t.Errorf("%s: a recovery of another state answered %d %s, want 409 changed", strategy, code, refused.Code)
	}
	answer := h.submit(t, http.MethodPost, path, object{"strategy": strategy, "resourceVersion": stuck.ResourceVersion})
	events := h.events(t.Context(), t, answer.Events, 1)
	if started := events[0].Body.(*helmtrail.Started); started.Operation != helmtrail.OperationRecover {
		t.Errorf("%s: the session's operation is %s, want recover", strategy, started.Operation)
	}
	kind, last := end(t, events)
	if kind != helmtrail.TypeCompleted || last.Agrees == nil || !*last.Agrees {
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
			h, namespace := shared.on(t, helm), clustertest.Namespace(t)
			answer := h.startInstall(t, namespace)
			supervisor, pid := processes(t, answer.SessionID)
			if both {
				// Helm must see neither the death of its supervisor nor the
				// supervisor Helm's.
				if output, err := exec.Command("kill", "-STOP", strconv.Itoa(supervisor)).CombinedOutput(); err != nil {
					t.Fatalf("stop the supervisor: %v\n%s", err, output)
				}
				kill(t, pid)
			}
			kill(t, supervisor)
			kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
			if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonInterrupted || last.Process != nil {
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

// processEnded reports whether no process has the id, not even as a zombie.
func processEnded(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// startedProcess reports whether a process runs. A zombie, as an orphan may be
// for a while, does not count.
func startedProcess(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// After a kill -9 of helmtrail the supervisor continues alone, and the next helmtrail
// reports the rest: a reader with Last-Event-ID gets every line once.
func TestAKilledHelmtrailLosesNoLine(t *testing.T) {
	t.Parallel()
	losesNoLine(t, nil, startProgram)
}

// With --on-stop=leave the same holds for an orderly stop.
func TestStoppingWithOperationsLeftRunningLosesNoLine(t *testing.T) {
	t.Parallel()
	losesNoLine(t, []string{"--on-stop", "leave", "--drain", "0s"}, serveOn)
}

// losesNoLine ends a helmtrail in the middle of an operation and starts another
// one on the same data directory.
func losesNoLine(t *testing.T, flags []string, start func(*testing.T, arguments) *server) {
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
		var e helmtrail.Event
		if json.Unmarshal([]byte(f.data), &e) != nil {
			t.Errorf("not an event: %s", f.data)
		}
		if body, ok := e.Body.(*helmtrail.LogLine); ok {
			seen = append(seen, body.Line)
		}
	}
	first := start(t, a)
	events := first.submit(t, http.MethodPost, first.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}}).Events
	var stopping sync.WaitGroup
	stop := sync.OnceFunc(func() { stopping.Go(first.stop) })
	// The stream breaks when the program ends, as intended.
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
	if ended != string(helmtrail.TypeCompleted) {
		t.Errorf("the last event is %s, want COMPLETED", ended)
	}
}

// startProgram runs the program as a separate process, which stop kills.
func startProgram(t *testing.T, a arguments) *server {
	t.Helper()
	command := exec.Command(clustertest.Binary(t, "helmtrail"), a.withDefaults(t).command()...)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	h := &server{client: &http.Client{Transport: &http.Transport{}}, pid: command.Process.Pid}
	h.stop = sync.OnceFunc(func() {
		kill(t, h.pid)
		_ = command.Wait() // it was killed
		h.client.CloseIdleConnections()
	})
	t.Cleanup(h.stop)
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(line, "http://")
	host, _, _ := strings.Cut(address, "/")
	h.url = "http://" + host
	h.waitReady(t)
	return h
}

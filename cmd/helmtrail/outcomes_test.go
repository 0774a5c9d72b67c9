package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// hold keeps the API server from removing the shop's ConfigMap until free is
// called or the test ends.
func (s *shop) hold(t *testing.T) (free func()) {
	t.Helper()
	patch := func(finalizers string) error {
		_, err := s.core.ConfigMaps(s.namespace).Patch(t.Context(), s.name, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		return err
	}
	if err := patch(`["helmtrail.dev/test"]`); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := patch("null"); err != nil {
			t.Error(err)
		}
	}
}

// submitUninstall starts an uninstall that waits.
func (s *shop) submitUninstall(t *testing.T, timeoutSeconds int) accepted {
	t.Helper()
	return s.submit(t, http.MethodDelete, fmt.Sprintf("%s?wait=true&timeoutSeconds=%d", s.path(), timeoutSeconds), nil)
}

// hasCause reports whether an event explains why an object is not ready.
func hasCause(e helmtrail.Event) bool {
	body, ok := e.Body.(*helmtrail.ResourceStatus)
	return ok && slices.ContainsFunc(body.Summary.Causes, func(c health.Cause) bool { return c.Object.Kind == "Pod" || c.Object.Kind == "Deployment" })
}

func isStatus(revision int, status string) func(helmtrail.Event) bool {
	return func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.ReleaseStatus)
		return ok && body.Revision == revision && string(body.Status) == status
	}
}

func anUninstallThatTimesOutLosesTheRecordsAndLeavesObjects(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "web")
	ended(t, s.install(t, nil, nil), expected{release: "1 deployed"})
	free := s.hold(t)
	defer free()
	events := s.events(t.Context(), t, s.submitUninstall(t, 3).Events, 1)
	last := ended(t, events, expected{failed: true, agrees: "no"})
	hasTransitions(t, events, "1 uninstalling", "1 uninstalled")
	want := []health.ObjectRef{{Kind: "ConfigMap", Namespace: s.namespace, Name: "web"}, {Kind: "Job", Namespace: s.namespace, Name: "web-migrate"}}
	if diff := cmp.Diff(want, last.Leftovers); diff != "" {
		t.Errorf("leftovers (-want +got):\n%s", diff)
	}
	held := func(c health.Cause) bool {
		return c.Text == "ConfigMap web is being deleted and waits for its finalizers: helmtrail.dev/test"
	}
	if !slices.ContainsFunc(last.Causes, held) {
		t.Errorf("the remaining object is not reported, only %+v", last.Causes)
	}
	var gone struct{ Code string }
	if code := h.call(t, http.MethodGet, s.path(), nil, &gone); code != http.StatusNotFound {
		t.Errorf("the release answers %d, want 404: helm has removed the records", code)
	}
}

// Helm handles no signal during rollback and uninstall. The release is therefore
// stuck at once, left by our session, and can be recovered.
func anInterruptedRollbackIsStuckAndRecovered(t *testing.T, h *server, major int) {
	recoveries := []struct {
		strategy helmtrail.Strategy
		status   string // afterwards, "" if it is gone
	}{
		{helmtrail.StrategyRollback, "deployed"}, {helmtrail.StrategyMarkFailed, "failed"}, {helmtrail.StrategyUninstall, ""},
	}
	for _, recovery := range recoveries {
		t.Run(string(recovery.strategy), func(t *testing.T) {
			t.Parallel()
			s := openShop(t, h, major, "web")
			ended(t, s.install(t, object{"tag": "doesnotexist"}, nil), expected{release: "1 deployed"})
			ended(t, s.upgrade(t, object{"tag": "1"}, object{"wait": true, "timeoutSeconds": 60}), expected{release: "2 deployed"})
			answer := s.submit(t, http.MethodPost, s.path()+"/rollback", object{"revision": 1, "options": object{"wait": true}})
			s.awaitEvent(t, answer, isStatus(3, "pending-rollback"))
			s.cancel(t, s.namespace, answer, nil)
			s.interrupted(t, answer, "3 pending-rollback", []helmtrail.Strategy{helmtrail.StrategyRollback, helmtrail.StrategyMarkFailed, helmtrail.StrategyUninstall})
			s.recover(t, s.namespace, recovery.strategy, *s.item(t, s.namespace).Stuck, recovery.status)
			if recovery.strategy == helmtrail.StrategyRollback {
				s.serving(t, "shop:1")
			}
		})
	}
}

// interrupted checks the terminal event of a canceled rollback or uninstall, and
// the state of the release.
func (s *shop) interrupted(t *testing.T, answer accepted, release string, ways []helmtrail.Strategy) {
	t.Helper()
	kind, last := end(t, s.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeCanceled || *last.ExitCode != 137 || last.Process == nil || last.Process.Signal != "SIGTERM" {
		t.Errorf("the session ended %s %+v, process %+v, want CANCELED, ended by SIGTERM", kind, last, last.Process)
	}
	if got := fmt.Sprintf("%d %s", last.Release.Revision, last.Release.Status); got != release || last.Hint == "" {
		t.Errorf("the release is %s, the hint %q; want %s and a way out", got, last.Hint, release)
	}
	stuck := s.item(t, s.namespace).Stuck
	if stuck == nil || stuck.Suspected || stuck.By != answer.SessionID || !slices.Equal(stuck.Strategies, ways) {
		t.Fatalf("the release is stuck: %+v, want at once, left by our session, with %v", stuck, ways)
	}
	var list struct {
		Items []struct {
			Name  string
			Stuck *stream.Stuck
		}
	}
	s.get(t, s.releases(s.namespace), &list)
	if len(list.Items) != 1 || list.Items[0].Stuck == nil {
		t.Errorf("the list is %+v, want the release stuck in it too", list.Items)
	}
}

func anInterruptedUninstallIsStuckAndRepeated(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "web")
	ended(t, s.install(t, nil, nil), expected{release: "1 deployed"})
	free := s.hold(t)
	answer := s.submitUninstall(t, 60)
	s.awaitEvent(t, answer, isStatus(1, "uninstalling"))
	s.cancel(t, s.namespace, answer, nil)
	s.interrupted(t, answer, "1 uninstalling", []helmtrail.Strategy{helmtrail.StrategyUninstall})
	free()
	s.recover(t, s.namespace, helmtrail.StrategyUninstall, *s.item(t, s.namespace).Stuck, "")
}

// Helm handles SIGTERM as introduced in https://github.com/helm/helm/pull/9180:
// an upgrade is marked failed, and rolled back if requested, which takes a while.
// Whether a person or the deadline stopped it, there is exactly one terminal
// event. See https://github.com/helm/helm/issues/9446.
func aStoppedUpgradeIsRolledBackBeforeItsEnd(t *testing.T, h *server, major int) {
	for _, canceled := range []bool{true, false} {
		t.Run(fmt.Sprintf("canceled %v", canceled), func(t *testing.T) {
			t.Parallel()
			s := openShop(t, h, major, "web")
			ended(t, s.install(t, nil, object{"wait": true}), expected{release: "1 deployed"})
			options := object{"rollbackOnFailure": true, "noHooks": true, "timeoutSeconds": 60}
			if !canceled {
				// By then the cause must be in the stream, however busy the machine is.
				options["deadlineSeconds"] = 25
			}
			answer := s.submit(t, http.MethodPut, s.path(), object{"chart": object{"ref": "shop"}, "values": object{"tag": "doesnotexist"}, "options": options})
			// If Helm is still writing objects, its rollback and its upgrade
			// write them concurrently, and either may win.
			s.awaitEvent(t, answer, hasCause)
			if canceled {
				s.cancel(t, s.namespace, answer, nil)
			}
			events := s.events(t.Context(), t, answer.Events, 1)
			hasTransitions(t, events, "2 pending-upgrade", "2 failed", "3 deployed")
			kind, last := end(t, events)
			if canceled && kind != helmtrail.TypeCanceled || !canceled && (kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonTimeout) {
				t.Errorf("the session ended %s %s", kind, last.Reason)
			}
			if last.Release == nil || last.Release.Revision != 3 || last.Release.Status != "deployed" || last.Agrees == nil || !*last.Agrees {
				t.Errorf("the end is %+v, want helm's own rollback, revision 3, to agree", last)
			}
			if i := s.item(t, s.namespace); i.Stuck != nil {
				t.Errorf("the release is stuck: %+v", i.Stuck)
			}
			s.serving(t, "shop:1")
		})
	}
}

// An exit with 0 after the stop does not mean that the operation succeeded.
// See https://github.com/helm/helm/issues/9446.
func TestAnExitWithZeroAfterAStopIsNotASuccess(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: standIn(t, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")}), clustertest.Namespace(t)
	install := object{"name": "web", "chart": object{"ref": "web"}, "options": object{"deadlineSeconds": 5}}
	answer := h.submit(t, http.MethodPost, h.releases(namespace), install)
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonTimeout || *last.Process.Code != 0 {
		t.Errorf("after the deadline it ended %s %+v, want FAILED, timeout, with the process' own 0", kind, last)
	}
	delete(install, "options")
	answer = h.submit(t, http.MethodPost, h.releases(namespace), install)
	h.awaitEvent(t, answer, isLine("ready"))
	h.cancel(t, namespace, answer, nil)
	if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCanceled || *last.ExitCode != 137 || *last.Process.Code != 0 {
		t.Errorf("after the cancel it ended %s %+v, want CANCELED, 137, with the process' own 0", kind, last)
	}
}

// --history-max removes old records in the middle of an upgrade, which is not an uninstall:
// https://github.com/helm/helm/issues/10550.
func pruningTheHistoryIsNotAnUninstall(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "web")
	ended(t, s.install(t, nil, nil), expected{release: "1 deployed"})
	for revision := 2; revision <= 5; revision++ {
		events := s.upgrade(t, object{"greeting": fmt.Sprint(revision)}, object{"historyMax": 3, "noHooks": true})
		ended(t, events, expected{release: fmt.Sprintf("%d deployed", revision)})
		got := statuses(events)
		if revision > 3 {
			hasTransitions(t, events, fmt.Sprintf("%d pruned", revision-3))
		}
		if slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "uninstalled") || strings.HasSuffix(s, "removed") }) {
			t.Errorf("upgrade %d: %v", revision, got)
		}
	}
	s.checkHistory(t, "3 superseded: Upgrade complete", "4 superseded: Upgrade complete", "5 deployed: Upgrade complete")
	if history := s.history(t); len(history) != 3 {
		t.Errorf("the history is %+v, want three revisions", history)
	}
}

// Helm's timeout applies to each of its steps, so a run may take longer. The
// deadline is a separate limit and is reported:
// https://github.com/vmware-tanzu/kubeapps/issues/3604.
func TestHelmMayTakeLongerThanItsTimeoutButNotThanTheDeadline(t *testing.T) {
	t.Parallel()
	steps := standIn(t, "echo pre-hook; sleep 0.8; echo wait; sleep 0.8; echo post-hook; sleep 0.8")
	h, namespace := serveOn(t, arguments{helm: steps}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}, "options": object{"timeoutSeconds": 1}})
	beats := 0
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		if beat, ok := e.Body.(*helmtrail.Heartbeat); ok {
			beats++
			if *beat.TimeoutSeconds != 1 || *beat.DeadlineSeconds != 16 || e.Elapsed.Seconds() > *beat.DeadlineSeconds {
				t.Errorf("a heartbeat after %v has %v and %v, want helm's timeout 1 and the deadline 16", e.Elapsed, *beat.TimeoutSeconds, *beat.DeadlineSeconds)
			}
		}
		return true
	})
	if err != nil || beats == 0 {
		t.Errorf("%d heartbeats, %v", beats, err)
	}
	events := h.events(t.Context(), t, answer.Events, 1)
	if kind, last := end(t, events); kind != helmtrail.TypeCompleted || last.DurationSeconds < 2.4 {
		t.Errorf("three steps of 0.8 s each under a timeout of 1 s ended %s after %v s", kind, last.DurationSeconds)
	}
	if !slices.IsSortedFunc(events, func(a, b helmtrail.Event) int { return int(a.Elapsed - b.Elapsed) }) {
		t.Error("the elapsed time decreased")
	}
}

func TestAHelmThatHangsWithoutWaitIsStopped(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: standIn(t, "echo ready; sleep 300")}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}, "options": object{"deadlineSeconds": 5}})
	h.awaitEvent(t, answer, isLine("ready"))
	_, pid := processes(t, answer.SessionID)
	kind, last := end(t, h.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonTimeout {
		t.Errorf("the session ended %s %+v, want FAILED, timeout", kind, last)
	}
	if startedProcess(pid) {
		t.Errorf("helm (process %d) is still there", pid)
	}
}

// killedOutside leaves a release pending, like a Helm that somebody runs by hand and
// kills.
func (s *shop) killedOutside(t *testing.T) {
	t.Helper()
	command := exec.CommandContext(t.Context(), clustertest.Binary(t, fmt.Sprintf("helm%d", s.major)),
		"upgrade", s.name, charts+"/shop", "--namespace", s.namespace, "--set", "tag=doesnotexist", "--wait")
	command.Env = clustertest.HelmEnvironment(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the upgrade by hand is pending", func() bool { return s.item(t, s.namespace).Status == "pending-upgrade" })
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // it was killed
}

// A pending revision without a running operation blocks every later operation, and Helm
// does not say why: https://github.com/helm/helm/issues/10599.
func TestAnUpgradeOverADeadPendingRevisionNamesItAndItsTime(t *testing.T) {
	t.Parallel()
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h := serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", major)), charts: charts, more: []string{"--stuck-after", "1s"}})
			s := openShop(t, h, major, "web")
			ended(t, s.install(t, nil, nil), expected{release: "1 deployed"})
			s.killedOutside(t)
			last := ended(t, s.upgrade(t, nil, nil), expected{
				failed: true, message: "another operation (install/upgrade/rollback) is in progress", release: "2 pending-upgrade", agrees: "-",
			})
			if want := "revision 2 has been pending-upgrade since " + time.Now().UTC().Format("2006-01-02T"); !strings.HasPrefix(last.Hint, want) || !strings.Contains(last.Hint, "no session of helmtrail's works on it") {
				t.Errorf("the hint is %q, want %q", last.Hint, want)
			}
			eventually(t, "the release is suspected stuck, not left by our session", func() bool {
				i := s.item(t, s.namespace)
				return i.Status == "pending-upgrade" && i.Stuck != nil && i.Stuck.Suspected && i.Stuck.By == ""
			})
		})
	}
}

// The session of an operation by hand has the result of that operation, even if
// Helm undoes it.
func anUndoneOutsideOperationHasFailed(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "web")
	flag := map[int]string{3: "--atomic", 4: "--rollback-on-failure"}[major]
	command := exec.CommandContext(t.Context(), clustertest.Binary(t, fmt.Sprintf("helm%d", major)),
		"install", s.name, charts+"/shop", "--namespace", s.namespace, "--set", "tag=doesnotexist", flag, "--timeout", "300s")
	command.Env = clustertest.HelmEnvironment(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var observed struct{ Items []helmtrail.Session }
	eventually(t, "an observed session", func() bool {
		s.call(t, http.MethodGet, s.path()+"/sessions", nil, &observed)
		return len(observed.Items) == 1
	})
	s.awaitEvent(t, accepted{Events: s.path() + "/events?sessionId=" + observed.Items[0].ID}, hasCause)
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		t.Fatal("the install by hand did not fail")
	}
	var sessions struct{ Items []helmtrail.Session }
	eventually(t, "the observed session has ended", func() bool {
		s.get(t, s.path()+"/sessions", &sessions)
		return len(sessions.Items) == 1 && sessions.Items[0].End != nil
	})
	got := sessions.Items[0]
	if got.Origin != helmtrail.OriginOutside || got.State != helmtrail.StateFailed || got.End.Release != nil || got.End.Message != "the release was uninstalled again" {
		t.Errorf("the session is %+v, its end %+v; want it failed, with no release left", got, got.End)
	}
	if len(got.End.Causes) == 0 {
		t.Error("the end names no cause, want the image that is not there")
	}
}

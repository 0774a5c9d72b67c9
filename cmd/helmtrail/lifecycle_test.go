package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// TestShop runs scenarios with everything that can happen to a release, each in a
// namespace of its own. They run concurrently on one helmtrail for each Helm,
// because they mostly wait.
func TestShop(t *testing.T) {
	t.Parallel()
	parts := map[string]func(t *testing.T, h *server, major int){
		"all operations on a release":                  allOperationsOnARelease,
		"a first install is uninstalled again":         aFirstInstallThatFailsIsUninstalledAgain,
		"an uninstall times out":                       anUninstallThatTimesOutLosesTheRecordsAndLeavesObjects,
		"an uninstall is interrupted":                  anInterruptedUninstallIsStuckAndRepeated,
		"a rollback is interrupted":                    anInterruptedRollbackIsStuckAndRecovered,
		"an upgrade is rolled back when it is stopped": aStoppedUpgradeIsRolledBackBeforeItsEnd,
		"pruning is not an uninstall":                  pruningTheHistoryIsNotAnUninstall,
		"helm undoes an operation by hand":             anUndoneOutsideOperationHasFailed,
	}
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h := shared.on(t, clustertest.Binary(t, fmt.Sprintf("helm%d", major)))
			for name, part := range parts {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					part(t, h, major)
				})
			}
		})
	}
}

// allOperationsOnARelease performs each operation through the API and checks the
// events, the history and the live objects.
func allOperationsOnARelease(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "shop")
	s.installs(t)
	s.rolls(t)
	s.failsAndIsRolledBack(t)
	s.cleansUp(t)
	s.goesBack(t)
	if major == 4 {
		s.losesAField(t)
		s.adoptsWithConflict(t)
		s.replacesClientSide(t)
	} else {
		s.adopts(t)
		s.replaces(t)
	}
	s.readsEverything(t)
	s.leaves(t)
}

func (s *shop) installs(t *testing.T) {
	events := s.install(t, object{"greeting": "hello", "migration": "2s"}, object{"wait": true, "timeoutSeconds": 180})
	last := ended(t, events, expected{release: "1 deployed"})
	hasTransitions(t, events, "1 pending-install", "1 deployed")
	if last.Notes != "shop says hello.\n" {
		t.Errorf("the notes are %q", last.Notes)
	}
	hook := slices.ContainsFunc(events, func(e helmtrail.Event) bool {
		body, ok := e.Body.(*helmtrail.ResourceStatus)
		return ok && slices.ContainsFunc(body.Resources, func(r health.Resource) bool { return r.Kind == "Job" && r.Name == "shop-migrate" && r.Hook != "" })
	})
	if !hook {
		t.Error("no RESOURCE_STATUS has the hook Job")
	}
	if started := events[0].Body.(*helmtrail.Started); *started.TimeoutSeconds != 180 || *started.DeadlineSeconds != 195 {
		t.Errorf("STARTED has the timeout %v and the deadline %v", *started.TimeoutSeconds, *started.DeadlineSeconds)
	}
	s.checkHistory(t, "1 deployed: Install complete")
	s.serving(t, "shop:1")
}

func (s *shop) rolls(t *testing.T) {
	before := s.deployment(t)
	events := s.upgrade(t, object{"greeting": "good morning"}, object{"wait": true, "historyMax": 5})
	ended(t, events, expected{release: "2 deployed"})
	hasTransitions(t, events, "2 pending-upgrade", "1 superseded", "2 deployed")
	after := s.deployment(t)
	const checksum = "checksum/config"
	if was, is := before.Spec.Template.Annotations[checksum], after.Spec.Template.Annotations[checksum]; was == is || after.Generation <= before.Generation {
		t.Errorf("the Deployment did not roll: checksum %s, then %s; generation %d, then %d", was, is, before.Generation, after.Generation)
	}
	if got := s.configMap(t, "shop").Data["greeting"]; got != "good morning" {
		t.Errorf("the ConfigMap has %q", got)
	}
	s.checkHistory(t, "1 superseded: Install complete", "2 deployed: Upgrade complete")
}

func (s *shop) failsAndIsRolledBack(t *testing.T) {
	answer := s.submit(t, http.MethodPut, s.path(), object{
		"chart": object{"ref": "shop"}, "values": object{"tag": "doesnotexist"},
		"options": object{"wait": true, "timeoutSeconds": 300, "rollbackOnFailure": true},
	})
	s.giveUpWhen(t, answer, hasCause)
	events := s.events(t.Context(), t, answer.Events, 1)
	last := ended(t, events, expected{failed: true, message: "rolled back", release: "4 deployed"})
	hasTransitions(t, events, "3 pending-upgrade", "3 failed", "4 deployed")
	if len(last.Causes) == 0 {
		t.Error("the end names no cause, want the image that is not there")
	}
	if d := s.deployment(t); image(d) != "shop:1" {
		t.Errorf("the Deployment has %s, want the old image", image(d))
	}
	s.serving(t, "shop:1")
	s.checkHistory(t, "3 failed: Upgrade \"shop\" failed", "4 deployed: Rollback to 2")
}

func (s *shop) cleansUp(t *testing.T) {
	events := s.upgrade(t, object{"tag": "doesnotexist", "offers": offers("bread")}, object{"wait": true, "timeoutSeconds": 5, "cleanupOnFail": true})
	last := ended(t, events, expected{failed: true, release: "5 failed"})
	hasTransitions(t, events, "5 pending-upgrade", "5 failed")
	if c := s.configMap(t, "shop-offers"); c != nil {
		t.Error("the second ConfigMap is still there")
	}
	for _, left := range last.Leftovers {
		if left.Name == "shop-offers" {
			t.Error("the second ConfigMap is reported as left over")
		}
	}
	s.checkHistory(t, "4 deployed: Rollback to 2", "5 failed: Upgrade \"shop\" failed")
}

func (s *shop) goesBack(t *testing.T) {
	events := s.rollback(t, 2, object{"wait": true})
	ended(t, events, expected{release: "6 deployed"})
	hasTransitions(t, events, "6 pending-rollback", "6 deployed")
	s.serving(t, "shop:1")
	if d := s.deployment(t); image(d) != "shop:1" {
		t.Errorf("the Deployment has %s", image(d))
	}
	if got := s.configMap(t, "shop").Data["greeting"]; got != "good morning" {
		t.Errorf("the ConfigMap has %q, want revision 2's text", got)
	}
	s.checkHistory(t, "6 deployed: Rollback to 2")
}

func (s *shop) losesAField(t *testing.T) {
	force := true
	_, err := s.apps.Deployments(s.namespace).Patch(t.Context(), s.name, types.ApplyPatchType,
		[]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"`+s.name+`"},"spec":{"replicas":3}}`),
		metav1.PatchOptions{FieldManager: "autoscaler", Force: &force})
	if err != nil {
		t.Fatal(err)
	}
	values := object{"greeting": "good morning", "replicas": 2}
	events := s.upgrade(t, values, object{"noHooks": true})
	last := ended(t, events, expected{failed: true, message: "autoscaler", release: "7 failed"})
	if !strings.Contains(last.Message, ".spec.replicas") {
		t.Errorf("the message is %q, want it to name the field", last.Message)
	}
	if replicas := *s.deployment(t).Spec.Replicas; replicas != 3 {
		t.Errorf("there are %d replicas, want the other manager's 3", replicas)
	}

	ended(t, s.upgrade(t, values, object{"forceConflicts": true, "noHooks": true, "wait": true}), expected{release: "8 deployed"})
	d := s.deployment(t)
	owner := slices.IndexFunc(d.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != "autoscaler" && f.Subresource == "" && strings.Contains(f.FieldsV1.GetRawString(), `"f:replicas"`)
	})
	if *d.Spec.Replicas != 2 || owner < 0 {
		t.Errorf("there are %d replicas, managed by %+v, want 2 by helm", *d.Spec.Replicas, d.ManagedFields)
	}
	s.checkHistory(t, "7 failed: Upgrade \"shop\" failed", "8 deployed: Upgrade complete")
}

// handMade creates a ConfigMap with the chart's name, as a person would.
func (s *shop) handMade(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	made, err := s.core.ConfigMaps(s.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "shop-offers"}, Data: map[string]string{"today": "cake"},
	}, metav1.CreateOptions{FieldManager: "by-hand"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// refusesTheForeign checks that an upgrade does not touch the ConfigMap made by hand.
func (s *shop) refusesTheForeign(t *testing.T, values object, release string) {
	t.Helper()
	events := s.upgrade(t, values, object{"noHooks": true})
	ended(t, events, expected{failed: true, message: "invalid ownership metadata", release: release, agrees: "-"})
	if got := s.configMap(t, "shop-offers").Data["today"]; got != "cake" {
		t.Errorf("the ConfigMap made by hand has %q", got)
	}
}

// adopted checks that the ConfigMap made by hand now belongs to the release.
func (s *shop) adopted(t *testing.T, before *corev1.ConfigMap) {
	t.Helper()
	after := s.configMap(t, "shop-offers")
	if after == nil || after.UID != before.UID {
		t.Fatalf("the ConfigMap made by hand was %s, now %+v", before.UID, after)
	}
	if after.Data["today"] != "bread" || after.Annotations["meta.helm.sh/release-name"] != "shop" || after.Labels["app.kubernetes.io/managed-by"] != "Helm" {
		t.Errorf("the ConfigMap was not adopted: %+v", after)
	}
}

func (s *shop) adoptsWithConflict(t *testing.T) {
	values := object{"greeting": "good morning", "replicas": 2, "offers": offers("bread")}
	made := s.handMade(t)
	s.refusesTheForeign(t, values, "8 deployed")
	ended(t, s.upgrade(t, values, object{"takeOwnership": true, "noHooks": true}), expected{failed: true, message: "by-hand", release: "9 failed"})
	ended(t, s.upgrade(t, values, object{"takeOwnership": true, "forceConflicts": true, "noHooks": true}), expected{release: "10 deployed"})
	s.adopted(t, made)
}

func (s *shop) replacesClientSide(t *testing.T) {
	values := object{"greeting": "good evening", "replicas": 2, "offers": offers("bread")}
	var refused struct{ Code, Message string }
	code := s.call(t, http.MethodPut, s.path(), object{"chart": object{"ref": "shop"}, "values": values, "options": object{"forceReplace": true}}, &refused)
	if code != http.StatusBadRequest || refused.Code != "unsupported_option" || !strings.Contains(refused.Message, "forceReplace") || !strings.Contains(refused.Message, "serverSide") {
		t.Errorf("forceReplace with server-side apply answered %d %+v, want 400 with both names", code, refused)
	}
	if method := s.history(t)[len(s.history(t))-1].ApplyMethod; method != "server-side" {
		t.Errorf("revision 10 was applied %s, want server-side", method)
	}
	before := s.deployment(t)
	ended(t, s.upgrade(t, values, object{"forceReplace": true, "serverSide": "false", "noHooks": true, "wait": true}), expected{release: "11 deployed"})
	if after := s.deployment(t); after.UID != before.UID || after.Generation <= before.Generation {
		t.Errorf("the Deployment was %s, generation %d, and is %s, generation %d; want it replaced in place", before.UID, before.Generation, after.UID, after.Generation)
	}
	s.checkHistory(t,
		"2 superseded: Upgrade complete", "3 failed: Upgrade \"shop\" failed", "4 superseded: Rollback to 2", "5 failed: Upgrade \"shop\" failed",
		"6 superseded: Rollback to 2", "7 failed: Upgrade \"shop\" failed", "8 superseded: Upgrade complete", "9 failed: Upgrade \"shop\" failed",
		"10 superseded: Upgrade complete", "11 deployed: Upgrade complete")
	if history := s.history(t); len(history) != 10 || history[9].ApplyMethod != "client-side" {
		t.Errorf("the history is %+v, want helm's newest ten, the last applied client-side", history)
	}
}

func (s *shop) adopts(t *testing.T) {
	values := object{"greeting": "good morning", "offers": offers("bread")}
	made := s.handMade(t)
	s.refusesTheForeign(t, values, "6 deployed")
	ended(t, s.upgrade(t, values, object{"takeOwnership": true, "noHooks": true}), expected{release: "7 deployed"})
	s.adopted(t, made)
}

func (s *shop) replaces(t *testing.T) {
	before := s.deployment(t)
	ended(t, s.upgrade(t, object{"greeting": "good evening", "offers": offers("bread")}, object{"forceReplace": true, "noHooks": true, "wait": true}), expected{release: "8 deployed"})
	if after := s.deployment(t); after.UID != before.UID || after.Generation <= before.Generation {
		t.Errorf("the Deployment was %s, generation %d, and is %s, generation %d; want it replaced in place", before.UID, before.Generation, after.UID, after.Generation)
	}
	s.checkHistory(t,
		"1 superseded: Install complete", "2 superseded: Upgrade complete", "3 failed: Upgrade \"shop\" failed", "4 superseded: Rollback to 2",
		"5 failed: Upgrade \"shop\" failed", "6 superseded: Rollback to 2", "7 superseded: Upgrade complete", "8 deployed: Upgrade complete")
}

// helmSays decodes what helm itself prints for a command as JSON.
func (s *shop) helmSays(t *testing.T, answer any, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), clustertest.Binary(t, fmt.Sprintf("helm%d", s.major)), append(arguments, "--namespace", s.namespace, "--output", "json")...)
	command.Env = clustertest.HelmEnvironment(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("helm %v: %v", arguments, err)
	}
	if err := json.Unmarshal(output, answer); err != nil {
		t.Fatalf("helm %v printed %q: %v", arguments, output, err)
	}
}

// readsEverything reads each part of each revision and compares it with helm's output.
func (s *shop) readsEverything(t *testing.T) {
	type metadata struct {
		Name, Namespace, Chart, Version, AppVersion, Status string
		Revision                                            int
	}
	for _, h := range s.history(t) {
		revision := strconv.Itoa(h.Revision)
		path := s.path() + "/revisions/" + revision
		var ours, helms metadata
		s.get(t, path+"/metadata", &ours)
		s.helmSays(t, &helms, "get", "metadata", s.name, "--revision", revision)
		if diff := cmp.Diff(helms, ours); diff != "" {
			t.Errorf("metadata of revision %s (-helm +ours):\n%s", revision, diff)
		}
		if ours.Version != "0.3.1" || ours.Revision != h.Revision || ours.Status != h.Status {
			t.Errorf("the metadata of revision %s is %+v, the history %+v", revision, ours, h)
		}
		var values, helmsValues object
		s.get(t, path+"/values", &values)
		s.helmSays(t, &helmsValues, "get", "values", s.name, "--revision", revision)
		if diff := cmp.Diff(helmsValues, values); diff != "" {
			t.Errorf("values of revision %s (-helm +ours):\n%s", revision, diff)
		}
		var all object
		s.get(t, path+"/values?all=true", &all)
		if delay, ok := all["delay"]; !ok || delay != "" {
			t.Errorf("all values of revision %s are %v, want the chart's among them", revision, all)
		}
		tag, _ := all["tag"].(string)
		greeting, _ := all["greeting"].(string)
		for part, want := range map[string]string{
			"manifest": "image: shop:" + tag, "hooks": "name: shop-migrate", "notes": "shop says " + greeting + ".",
			"chart": `"name":"shop"`, "raw": `"version":` + revision,
		} {
			if got := s.text(t, path+"/"+part); !strings.Contains(strings.ReplaceAll(got, `": `, `":`), want) {
				t.Errorf("%s of revision %s is %.300q, want %q in it", part, revision, got, want)
			}
		}
	}
}

func (s *shop) leaves(t *testing.T) {
	events := s.do(t, http.MethodDelete, s.path()+"?wait=true", nil)
	ended(t, events, expected{})
	var gone any
	if code := s.call(t, http.MethodGet, s.path(), nil, &gone); code != http.StatusNotFound {
		t.Errorf("the release answers %d after its uninstall", code)
	}
	if s.configMap(t, "shop") != nil || s.configMap(t, "shop-offers") != nil {
		t.Error("its ConfigMaps are still there")
	}
}

// A first install that Helm uninstalls itself leaves neither records nor objects, as
// requested.
func aFirstInstallThatFailsIsUninstalledAgain(t *testing.T, h *server, major int) {
	s := openShop(t, h, major, "shop")
	answer := s.submit(t, http.MethodPost, s.releases(s.namespace), object{
		"name": s.name, "chart": object{"ref": "shop"}, "values": object{"tag": "doesnotexist"},
		"options": object{"wait": true, "timeoutSeconds": 300, "rollbackOnFailure": true},
	})
	s.giveUpWhen(t, answer, hasCause)
	events := s.events(t.Context(), t, answer.Events, 1)
	last := ended(t, events, expected{failed: true, message: "has been uninstalled"})
	hasTransitions(t, events, "1 pending-install", "1 uninstalling", "1 uninstalled")
	// Helm never removes hooks without a delete policy.
	if diff := cmp.Diff([]health.ObjectRef{{Kind: "Job", Namespace: s.namespace, Name: "shop-migrate"}}, last.Leftovers); diff != "" {
		t.Errorf("leftovers (-want +got):\n%s", diff)
	}
	if len(last.Causes) == 0 {
		t.Error("the end names no cause although helm has removed the evidence")
	}
	var gone struct{ Code string }
	if code := h.call(t, http.MethodGet, s.path(), nil, &gone); code != http.StatusNotFound || gone.Code != "not_found" {
		t.Errorf("the release answers %d %s", code, gone.Code)
	}
	if s.configMap(t, "shop") != nil {
		t.Error("its ConfigMap is still there")
	}
}

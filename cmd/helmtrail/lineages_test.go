package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// pastItem is a revision in the history.
type pastItem struct {
	Revision      int
	Status        string
	Session, Gone *string
	Lineage, User string
	Live          bool
}

type pastList struct {
	Items    []pastItem
	Lineages []struct {
		ID                 string
		Revisions          int
		Current, InCluster bool
	}
}

// rows returns revisions as "number status", followed by the reason for their absence.
func (l pastList) rows() []string {
	var rows []string
	for _, item := range l.Items {
		row := fmt.Sprintf("%d %s", item.Revision, item.Status)
		if item.Gone != nil {
			row += " " + *item.Gone
		}
		rows = append(rows, row)
	}
	return rows
}

// awaitPast waits until a history equals want.
func (h *server) awaitPast(t *testing.T, path string, want ...string) pastList {
	t.Helper()
	var got pastList
	defer func() {
		if diff := cmp.Diff(want, got.rows()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}()
	eventually(t, path, func() bool {
		var now pastList
		if h.call(t, http.MethodGet, path, nil, &now) == http.StatusOK {
			got = now
		}
		return cmp.Equal(want, got.rows())
	})
	return got
}

// awaitLineages waits until is returns true for a history's lineages. The trail
// is a moment behind the watch.
func (h *server) awaitLineages(t *testing.T, path string, is func(pastList) bool) (past pastList) {
	t.Helper()
	eventually(t, "the trail's lineages", func() bool {
		past = pastList{}
		h.get(t, path, &past)
		return len(past.Lineages) > 0 && is(past)
	})
	return past
}

type trailPage struct {
	Items []audit.Entry
	State audit.State
}

// A release with Helm's default history limit is upgraded, uninstalled and installed
// again.
func TestAllLineagesOfAReleaseStayReadableAndDistinct(t *testing.T) {
	t.Parallel()
	namespace, chart := clustertest.Namespace(t), clustertest.Chart(t)
	h := shared.on(t, clustertest.Binary(t, "helm4"))
	helm := func(args ...string) {
		t.Helper()
		clustertest.Helm(t, 4, append(args, "--namespace", namespace)...)
	}
	helm("install", "web", chart, "--set", "tag=t1")
	for revision := 2; revision <= 13; revision++ {
		helm("upgrade", "web", chart, "--set", fmt.Sprintf("tag=t%d", revision), "--history-max", "3")
	}
	own := h.release(namespace, "web")
	rows := func(gone ...string) (list []string) {
		for revision := 13; revision >= 1; revision-- {
			row := fmt.Sprintf("%d superseded", revision)
			switch {
			case len(gone) == 2 && revision == 13:
				row = "13 uninstalling " + gone[1]
			case len(gone) == 2 && revision > 10:
				row += " " + gone[1]
			case revision <= 10:
				row += " " + gone[0]
			case revision == 13:
				row = "13 deployed"
			}
			list = append(list, row)
		}
		return list
	}
	h.awaitPast(t, own+"/history", rows("pruned")...)
	helm("uninstall", "web")
	h.awaitPast(t, own+"/history", rows("pruned", "uninstalled")...)
	first := h.awaitLineages(t, own+"/history", func(past pastList) bool { return !past.Lineages[0].InCluster }).Lineages[0]
	if first.Revisions != 13 || !first.Current || first.InCluster {
		t.Errorf("the first lineage is %+v", first)
	}
	var missing struct {
		Code    string
		Details struct{ History, Trail string }
	}
	if code := h.call(t, http.MethodGet, own, nil, &missing); code != http.StatusNotFound || missing.Details.History != own+"/history" {
		t.Errorf("the release answers %d %+v", code, missing)
	}
	helm("install", "web", chart, "--set", "tag=again")
	h.awaitPast(t, own+"/history", "1 deployed")
	both := h.awaitLineages(t, own+"/history", func(past pastList) bool { return len(past.Lineages) == 2 })
	if len(both.Lineages) != 2 || both.Lineages[1].ID != first.ID || both.Items[0].Lineage == first.ID {
		t.Errorf("lineages are %+v", both.Lineages)
	}

	old := "lineage=" + url.QueryEscape(first.ID)
	for revision := 1; revision <= 13; revision++ {
		var values struct{ Tag string }
		h.get(t, fmt.Sprintf("%s/revisions/%d/values?%s", own, revision, old), &values)
		if want := fmt.Sprintf("t%d", revision); values.Tag != want {
			t.Errorf("revision %d had the tag %q, want %q", revision, values.Tag, want)
		}
		for _, part := range []string{"manifest", "hooks", "notes", "metadata", "chart", "raw"} {
			h.as(t, fmt.Sprintf("%s/revisions/%d/%s?%s", own, revision, part, old), "")
		}
		var diff struct {
			From, To struct{ Lineage string }
			Values   []struct{ Path, Change string }
		}
		h.get(t, fmt.Sprintf("%s/diff?from=%d&fromLineage=%s&to=1", own, revision, first.ID), &diff)
		if want := []struct{ Path, Change string }{{"tag", "changed"}}; cmp.Diff(want, diff.Values) != "" || diff.From.Lineage != first.ID {
			t.Errorf("revision %d and the new lineage differ by %+v", revision, diff)
		}
	}
	var trail trailPage
	h.get(t, own+"/trail?verify=true", &trail)
	if !trail.State.Verified || trail.State.Entries == 0 {
		t.Errorf("the chain is %+v", trail.State)
	}
	records := map[string]bool{}
	for i, e := range trail.Items {
		if i > 0 && e.Position <= trail.Items[i-1].Position || e.Kind == audit.KindTransition && e.Release != "web" {
			t.Errorf("entry %d is %+v", i, e)
		}
		records[e.Lineage+e.Digest] = true
	}
	if len(records) < 14 {
		t.Errorf("the trail has %d records for 14 revisions", len(records))
	}
	lines := strings.Split(strings.TrimSpace(h.as(t, own+"/trail", "application/x-ndjson")), "\n")
	if len(lines) != len(trail.Items) {
		t.Errorf("%d lines for %d entries", len(lines), len(trail.Items))
	}
}

// bindEverywhere gives an account a role in all namespaces until the test ends.
func bindEverywhere(t *testing.T, account, role string) {
	t.Helper()
	owner, name, _ := strings.Cut(strings.TrimPrefix(account, "system:serviceaccount:"), ":")
	bindings := rbac(t).ClusterRoleBindings()
	made, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "helmtrail-"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
}

// recreated deletes a namespace, waits until it is gone, and creates it again.
func recreated(t *testing.T, name string) {
	t.Helper()
	namespaces := clustertest.Core(t).Namespaces()
	if err := namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func() bool {
		_, err := namespaces.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// former appears only in what the previous owners of a namespace did there.
const former = "obsidian"

// New owners of a namespace's name cannot see what the previous owners did.
func TestNewOwnersOfANamespaceCannotSeeItsPast(t *testing.T) {
	t.Parallel()
	accounts, namespace := clustertest.Namespace(t), "test-again-"+rand.String(6)
	if _, err := clustertest.Core(t).Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clustertest.Core(t).Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}) })
	reader, auditor, operator := exampleRole(t, "reader"), exampleRole(t, "auditor"), exampleRole(t, "operator")
	newOwner, ownerToken := account(t, accounts, "owner")
	everywhere, auditorToken := account(t, accounts, "auditor")
	bindEverywhere(t, everywhere, auditor)
	_, nobodyToken := account(t, accounts, "nobody")
	oldOwner, oldToken := account(t, accounts, "old-owner")
	bind(t, namespace, oldOwner, operator)

	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes"}})
	own := h.release(namespace, "web")
	old := h.holding(oldToken)
	for _, tag := range []string{former, former + "-2"} {
		var answer accepted
		if tag == former {
			answer = old.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": tag}})
		} else {
			answer = old.submit(t, http.MethodPut, own, object{"chart": object{"ref": "web"}, "values": object{"tag": tag}})
		}
		if kind, last := end(t, old.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
			t.Fatalf("the old owner's operation ended %s: %s", kind, last.Message)
		}
	}
	// This release has no current lineage, only a former one.
	answer := old.submit(t, http.MethodPost, h.releases(namespace), object{"name": former, "chart": object{"ref": "web"}})
	end(t, old.events(t.Context(), t, answer.Events, 1))

	recreated(t, namespace)
	bind(t, namespace, newOwner, reader)
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "--namespace", namespace, "--set", "tag=new")

	audit, owner := h.holding(auditorToken), h.holding(ownerToken)
	audit.awaitPast(t, own+"/history", "1 deployed")
	var list pastList
	eventually(t, "the old lineage is a former one", func() bool {
		audit.get(t, own+"/history", &list)
		return len(list.Lineages) == 2 && !list.Lineages[1].Current && list.Lineages[0].Current
	})
	lineage := list.Lineages[1].ID
	// A namespace's Secrets are deleted in any order, so the first may count as pruned.
	eventually(t, "both old revisions are gone", func() bool {
		var old pastList
		audit.get(t, own+"/history?lineage="+lineage, &old)
		return len(old.Items) == 2 && old.Items[0].Gone != nil && *old.Items[0].Gone == "removed" && old.Items[1].Gone != nil
	})
	var sessions struct{ Items []helmtrail.Session }
	audit.get(t, own+"/sessions", &sessions)
	if len(sessions.Items) < 2 {
		t.Fatalf("the auditor sees %d sessions", len(sessions.Items))
	}
	session := sessions.Items[len(sessions.Items)-1].ID

	// These are all routes that take a lineage or show the past.
	for _, path := range []string{
		own + "/history?lineage=" + lineage,
		own + "/revisions/2/values?lineage=" + lineage, own + "/revisions/1/manifest?lineage=" + lineage,
		own + "/diff?from=1&to=2&lineage=" + lineage, own + "/diff?to=1&from=2&fromLineage=" + lineage, own + "/diff?from=1&to=1&toLineage=" + lineage,
		own + "/trail?lineage=" + lineage,
	} {
		if code, answer := audit.ask(t, http.MethodGet, path, ""); code != http.StatusOK {
			t.Errorf("%s for the auditor: %d %.200s", path, code, answer)
		}
		for name, caller := range map[string]*server{"the new owner": owner, "nobody": h.holding(nobodyToken)} {
			code, answer := caller.ask(t, http.MethodGet, path, "")
			if code != http.StatusForbidden || strings.Contains(answer, former) {
				t.Errorf("%s for %s: %d %.200s", path, name, code, answer)
			}
			// A lineage that never existed is refused with the same words.
			absent := strings.ReplaceAll(path, lineage, strings.Repeat("0", len(lineage)))
			if absentCode, absentAnswer := caller.ask(t, http.MethodGet, absent, ""); absentCode != code || absentAnswer != answer {
				t.Errorf("%s for %s: %d %s, and for a missing lineage %d %s", path, name, code, answer, absentCode, absentAnswer)
			}
		}
	}
	trace := "/" + h.cluster + "/trail"
	for path, want := range map[string]int{
		own: 200, own + "/history": 200, own + "/trail": 200, own + "/sessions": 200, trace: 200, trace + "?namespace=" + namespace: 200,
		h.release(namespace, former): 404, h.release(namespace, former) + "/history": 404, h.release(namespace, former) + "/trail": 404,
		own + "/sessions/" + session: 404, own + "/events?sessionId=" + session: 404, own + "/sessions/" + session + "/rendered": 404,
		own + "/revisions/2/values": 404, own + "/diff?from=1&to=2": 404,
	} {
		code, answer := owner.ask(t, http.MethodGet, path, "")
		if code != want || strings.Contains(answer, oldOwner) || strings.Contains(answer, lineage) || strings.Contains(answer, session) && want == 200 {
			t.Errorf("%s for the new owner: %d, want %d: %.400s", path, code, want, answer)
		}
		if want == 200 && strings.Contains(answer, former) {
			t.Errorf("%s shows the new owner the past: %.400s", path, answer)
		}
		if code, _ := h.holding(nobodyToken).ask(t, http.MethodGet, path, ""); code != http.StatusForbidden {
			t.Errorf("%s without permission: %d", path, code)
		}
	}
	if lines := owner.as(t, trace, "application/x-ndjson"); strings.Contains(lines, former) || strings.Contains(lines, lineage) || !strings.Contains(lines, `"release":"web"`) {
		t.Errorf("the new owner's lines are %.400s", lines)
	}
	// The auditor sees all of it.
	for _, path := range []string{trace + "?namespace=" + namespace, own + "/trail"} {
		if _, answer := audit.ask(t, http.MethodGet, path, ""); !strings.Contains(answer, lineage) || !strings.Contains(answer, oldOwner) {
			t.Errorf("%s shows the auditor %.400s", path, answer)
		}
	}
	if code, answer := audit.ask(t, http.MethodGet, h.release(namespace, former)+"/history", ""); code != http.StatusOK {
		t.Errorf("the auditor's history of a deleted release: %d %.200s", code, answer)
	}
	var values struct{ Tag string }
	audit.get(t, own+"/revisions/2/values?lineage="+lineage, &values)
	if values.Tag != former+"-2" {
		t.Errorf("the auditor reads the tag %q", values.Tag)
	}
}

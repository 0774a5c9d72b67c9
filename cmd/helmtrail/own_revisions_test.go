package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// A session names the newest revision before it and the revisions that it created, both
// while it runs and afterwards.
func TestASessionNamesTheRevisionsItMade(t *testing.T) {
	t.Parallel()
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h := shared.on(t, clustertest.Binary(t, fmt.Sprintf("helm%d", major)))
			checkOwnRevisions(t, openShop(t, h, major, "web"))
		})
	}
}

func checkOwnRevisions(t *testing.T, s *shop) {
	check := func(what string, answer accepted, start string, revisions []int) {
		t.Helper()
		var session helmtrail.Session
		s.get(t, s.path()+"/sessions/"+answer.SessionID, &session)
		got := "none"
		if session.StartRevision != nil {
			got = fmt.Sprint(*session.StartRevision)
		}
		if diff := cmp.Diff(append([]int{}, revisions...), session.Revisions); got != start || diff != "" {
			t.Errorf("%s: the start is %s, want %s; revisions (-want +got):\n%s", what, got, start, diff)
		}
	}
	ends := func(what string, answer accepted, start string, revisions ...int) {
		t.Helper()
		_, last := end(t, s.events(t.Context(), t, answer.Events, 1))
		if last.StartRevision == nil || cmp.Diff(append([]int{}, revisions...), last.Revisions) != "" {
			t.Errorf("%s ended with the start %v and revisions %v, want %s and %v", what, last.StartRevision, last.Revisions, start, revisions)
		}
		check(what, answer, start, revisions)
	}
	run := func(what, method, path string, body any, start string, revisions ...int) {
		t.Helper()
		ends(what, s.submit(t, method, path, body), start, revisions...)
	}
	chart := object{"ref": "shop"}
	run("install", http.MethodPost, s.releases(s.namespace), object{"name": "web", "chart": chart}, "0", 1)
	// An upgrade that helm rolls back creates two revisions.
	undone := s.submit(t, http.MethodPut, s.path(), object{
		"chart": chart, "values": never, "options": object{"rollbackOnFailure": true, "timeoutSeconds": 300},
	})
	s.giveUpWhen(t, undone, hasCause)
	ends("upgrade rolled back", undone, "1", 2, 3)
	run("rollback", http.MethodPost, s.path()+"/rollback", object{"revision": 1}, "3", 4)
	run("dry run", http.MethodPut, s.path(), object{"chart": chart, "options": object{"dryRun": "client"}}, "4")

	running := s.submit(t, http.MethodPut, s.path(), object{"chart": chart, "values": never, "options": object{"wait": true, "timeoutSeconds": 600}})
	s.awaitEvent(t, running, isStatus(5, "pending-upgrade"))
	check("upgrade while it runs", running, "4", []int{5})
	s.cancel(t, s.namespace, running, nil)
	end(t, s.events(t.Context(), t, running.Events, 1))
	check("upgrade that was canceled", running, "4", []int{5})
	run("uninstall", http.MethodDelete, s.path(), nil, "5")
}

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// TestShopBehindAProxy runs scenarios with helmtrail and Helm behind a proxy that makes
// requests fail.
func TestShopBehindAProxy(t *testing.T) {
	t.Parallel()
	parts := map[string]func(t *testing.T, h *server, proxy *apiProxy, major int){
		"a race is retried":                    aRaceIsRetriedInTheSameSession,
		"retries can be turned off":            retriesCanBeTurnedOff,
		"a failed install is retried":          aFailedInstallIsRetriedOverItsOwnRevision,
		"leftovers are those of all attempts":  leftoversAreThoseOfAllAttempts,
		"a failed last write is not a success": aFailedLastWriteIsNotASuccess,
	}
	for _, major := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			proxy := startProxy(t)
			h := serveOn(t, arguments{helm: clustertest.Binary(t, fmt.Sprintf("helm%d", major)), charts: charts, kubeconfig: proxy.kubeconfig})
			for name, part := range parts {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					part(t, h, proxy, major)
				})
			}
		})
	}
}

// retries returns a stream's RETRYING events.
func retries(events []helmtrail.Event) []*helmtrail.Retrying {
	var list []*helmtrail.Retrying
	for _, e := range events {
		if body, ok := e.Body.(*helmtrail.Retrying); ok {
			list = append(list, body)
		}
	}
	return list
}

// secrets returns the path under which Helm stores its records.
func (s *shop) secrets() string { return "/namespaces/" + s.namespace + "/secrets" }

func aRaceIsRetriedInTheSameSession(t *testing.T, h *server, proxy *apiProxy, major int) {
	tests := []struct {
		name  string
		fault fault
		// times is 1 unless Helm itself retries such a request.
		times  int
		reason string
		code   helmtrail.RetryCode
	}{
		{"conflict", conflict, 1, "another writer", helmtrail.RetryConflict},
		{"leader change", leaderChanged, 2, "another leader", helmtrail.RetryLeader},
		{"lost connection", lost, 1, "connection to the API server was lost", helmtrail.RetryLost},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, h, major, "shop")
			proxy.fail(rule{"POST", s.secrets(), test.fault, test.times})
			events := s.install(t, nil, nil)
			ended(t, events, expected{release: "1 deployed"})
			got := retries(events)
			if len(got) != 1 || got[0].Attempt != 2 || got[0].MaxAttempts != 3 || !strings.Contains(got[0].Reason, test.reason) || got[0].Code != test.code || got[0].DelaySeconds != 1 {
				t.Fatalf("RETRYING events %+v, want one of attempt 2 of 3 because of %q", got, test.reason)
			}
			if diff := cmp.Diff([]string{"1 pending-install", "1 deployed"}, statuses(events)); diff != "" {
				t.Errorf("transitions (-want +got):\n%s", diff)
			}
			var sessions struct{ Items []helmtrail.Session }
			s.get(t, s.path()+"/sessions", &sessions)
			if len(sessions.Items) != 1 || sessions.Items[0].State != helmtrail.StateCompleted {
				t.Errorf("the sessions are %+v, want one", sessions.Items)
			}
		})
	}
}

func retriesCanBeTurnedOff(t *testing.T, h *server, proxy *apiProxy, major int) {
	s := openShop(t, h, major, "shop")
	proxy.fail(rule{"POST", s.secrets(), conflict, 1})
	events := s.install(t, nil, object{"retries": 0})
	ended(t, events, expected{failed: true, message: "the object has been modified", agrees: "-"})
	if got := retries(events); len(got) != 0 {
		t.Errorf("RETRYING events %+v, want none", got)
	}
}

// write returns the method with which a Helm creates a missing object.
func write(major int) string {
	if major == 4 {
		return "PATCH" // server-side apply
	}
	return "POST"
}

func aFailedInstallIsRetriedOverItsOwnRevision(t *testing.T, h *server, proxy *apiProxy, major int) {
	s := openShop(t, h, major, "shop")
	proxy.fail(rule{write(major), "/namespaces/" + s.namespace + "/deployments", leaderChanged, 2})
	events := s.install(t, object{"greeting": "at last"}, object{"wait": true})
	ended(t, events, expected{release: "2 deployed"})
	hasTransitions(t, events, "1 pending-install", "1 failed", "2 pending-install", "2 deployed")
	if got := retries(events); len(got) != 1 {
		t.Errorf("RETRYING events %+v, want one", got)
	}
	s.serving(t, "shop:1")
}

// Objects created by the first attempt belong to the session too, although the second
// attempt found them.
func leftoversAreThoseOfAllAttempts(t *testing.T, h *server, proxy *apiProxy, major int) {
	s := openShop(t, h, major, "shop")
	proxy.fail(rule{write(major), "/namespaces/" + s.namespace + "/deployments", leaderChanged, 4})
	events := s.install(t, nil, object{"retries": 1})
	last := ended(t, events, expected{failed: true, message: "leader changed", release: "2 failed"})
	if got := retries(events); len(got) != 1 || got[0].MaxAttempts != 2 {
		t.Errorf("RETRYING events %+v, want one", got)
	}
	if !slices.Contains(last.Leftovers, health.ObjectRef{Kind: "ConfigMap", Namespace: s.namespace, Name: "shop"}) {
		t.Errorf("leftovers %v, want the ConfigMap among them", last.Leftovers)
	}
}

// If its last write fails, Helm 3 prints nothing and Helm 4 one line. Both exit with
// 0.
func aFailedLastWriteIsNotASuccess(t *testing.T, h *server, proxy *apiProxy, major int) {
	s := openShop(t, h, major, "web")
	proxy.fail(rule{"PUT", s.secrets(), conflict, 1})
	answer := s.submit(t, http.MethodPost, s.releases(s.namespace), object{"name": s.name, "chart": object{"ref": "shop"}, "options": object{"noHooks": true}})
	last := ended(t, s.events(t.Context(), t, answer.Events, 1), expected{release: "1 pending-install", agrees: "no"})
	if !strings.Contains(last.Hint, "left pending-install") {
		t.Errorf("the hint is %q", last.Hint)
	}
	stuck := s.item(t, s.namespace).Stuck
	if stuck == nil || stuck.Suspected || stuck.By != answer.SessionID {
		t.Fatalf("the release is stuck: %+v, want at once, left by our session, certainly", stuck)
	}
	s.recover(t, s.namespace, helmtrail.StrategyMarkFailed, *stuck, "failed")
}

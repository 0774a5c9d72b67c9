package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// twoNamespaces is a release of the chart spread, with a Deployment in each of two
// namespaces, on a server with login.
type twoNamespaces struct {
	*server
	app, db string
}

func openTwoNamespaces(t *testing.T, h *server) *twoNamespaces {
	t.Helper()
	return &twoNamespaces{server: h, app: clustertest.Namespace(t), db: clustertest.Namespace(t)}
}

// caller creates a user who may operate in the release's own namespace, and in
// the other one has the given rules.
func (s *twoNamespaces) caller(t *testing.T, name string, inDB ...rbacv1.PolicyRule) (user, token string) {
	t.Helper()
	user, token = account(t, s.app, name)
	bind(t, s.app, user, exampleRole(t, "operator"))
	if len(inDB) == 0 {
		return user, token
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: inDB}
	if _, err := rbac(t).Roles(s.db).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.app, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}
	if _, err := rbac(t).RoleBindings(s.db).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return user, token
}

var (
	allDeployments = rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"*"}}
	whatTheyOwn    = rbacv1.PolicyRule{APIGroups: []string{"", "apps"}, Resources: []string{"pods", "replicasets", "events"}, Verbs: []string{"get", "list"}}
	logs           = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}}
)

// rowsOf returns the rows that a reader of a stream has in the end, in the order in
// which they arrived.
func rowsOf(events []helmtrail.Event) []health.Resource {
	var rows []health.Resource
	for _, e := range events {
		body, ok := e.Body.(*helmtrail.ResourceStatus)
		if !ok {
			continue
		}
		if body.Full {
			rows = nil
		}
		for _, row := range body.Resources {
			if i := slices.IndexFunc(rows, func(r health.Resource) bool { return r.Key() == row.Key() }); i >= 0 {
				rows[i] = row
			} else {
				rows = append(rows, row)
			}
		}
		rows = slices.DeleteFunc(rows, func(r health.Resource) bool { return slices.Contains(body.Removed, r.Key()) })
	}
	return rows
}

// in returns the kinds of the rows in a namespace, sorted: each kind has a watch of
// its own, so rows may arrive in any order.
func in(namespace string, rows []health.Resource) []string {
	var list []string
	for _, row := range rows {
		if row.Namespace == namespace {
			list = append(list, row.Kind)
		}
	}
	slices.Sort(list)
	return list
}

// causesIn returns the reasons and containers of the causes in a namespace, sorted.
func causesIn(namespace string, causes []health.Cause) []string {
	list := []string{}
	for _, c := range causes {
		if c.Object.Namespace == namespace {
			list = append(list, c.Object.Kind+" "+c.Container+" "+c.Reason)
		}
	}
	slices.Sort(list)
	return list
}

// allCausesIn is causesIn for every summary of a stream and for its terminal event.
func allCausesIn(namespace string, events []helmtrail.Event) []string {
	var all []health.Cause
	for _, e := range events {
		switch body := e.Body.(type) {
		case *helmtrail.ResourceStatus:
			all = append(all, body.Summary.Causes...)
		case *helmtrail.End:
			all = append(all, body.Causes...)
		}
	}
	return slices.Compact(causesIn(namespace, all))
}

// endsBadly returns the terminal event of a session whose hook failed, with the
// causes that the starter may see in the release's own namespace.
func (s *twoNamespaces) endsBadly(t *testing.T, events []helmtrail.Event) *helmtrail.End {
	t.Helper()
	kind, last := end(t, events)
	if kind != helmtrail.TypeFailed {
		t.Fatalf("the session ended %s, want FAILED for its hook", kind)
	}
	if diff := cmp.Diff([]string{"Job sql BackoffLimitExceeded", "Pod web CrashLoopBackOff"}, causesIn(s.app, last.Causes)); diff != "" {
		t.Errorf("causes at the end in the release's namespace (-want +got):\n%s", diff)
	}
	return last
}

// Objects in other namespaces must not hide what the caller can see
// (https://github.com/lensapp/lens/pull/6088). A stream, which many may read,
// must not show more than its starter could see.
func TestAStreamShowsWhatItsStarterMaySee(t *testing.T) {
	t.Parallel()
	s := openTwoNamespaces(t, shared.withLogin(t))
	limited, limitedToken := s.caller(t, "limited", allDeployments)
	_, fullToken := s.caller(t, "full", allDeployments, whatTheyOwn, logs)
	byLimited, byFull := s.holding(limitedToken), s.holding(fullToken)

	install := byLimited.submit(t, http.MethodPost, s.releases(s.app), object{"name": "spread", "chart": object{"ref": "spread"}, "values": object{"db": s.db}})
	live := byLimited.events(t.Context(), t, install.Events, 1)
	last := s.endsBadly(t, live)
	rows := rowsOf(live)
	if diff := cmp.Diff([]string{"Deployment"}, in(s.db, rows)); diff != "" {
		t.Errorf("rows in the other namespace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Deployment", "Job", "Pod", "Pod", "ReplicaSet"}, in(s.app, rows)); diff != "" {
		t.Errorf("rows in the release's namespace (-want +got):\n%s", diff)
	}
	for _, row := range rows {
		want := limited + " may not list pods in namespace " + s.db
		if row.Namespace == s.db && (row.Status != "Progressing" || row.Total != 1 || !strings.Contains(row.Message, want)) {
			t.Errorf("the Deployment whose pods may not be listed is %+v, want its own state and %q", row, want)
		}
	}
	if got := allCausesIn(s.db, live); len(got) > 0 {
		t.Errorf("causes in the other namespace: %q, want none", got)
	}
	checkLogs(t, last.Causes)

	// The stream is the same when it is replayed, and for other readers.
	for name, reader := range map[string]*server{"its starter": byLimited, "somebody who may see more": byFull} {
		if diff := cmp.Diff(live, reader.events(t.Context(), t, install.Events, 1)); diff != "" {
			t.Errorf("replayed to %s (-live +replayed):\n%s", name, diff)
		}
	}

	upgrade := byFull.submit(t, http.MethodPut, s.release(s.app, "spread"), object{"chart": object{"ref": "spread"}, "values": object{"db": s.db}})
	live = byFull.events(t.Context(), t, upgrade.Events, 1)
	s.endsBadly(t, live)
	if diff := cmp.Diff([]string{"Deployment", "Pod", "ReplicaSet"}, in(s.db, rowsOf(live))); diff != "" {
		t.Errorf("rows in the other namespace, with permission (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Pod db CrashLoopBackOff"}, allCausesIn(s.db, live)); diff != "" {
		t.Errorf("causes in the other namespace, with permission (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(live, byLimited.events(t.Context(), t, upgrade.Events, 1)); diff != "" {
		t.Errorf("replayed to somebody who may see less (-live +replayed):\n%s", diff)
	}
}

// checkLogs checks that each cause that is a failed container has the container's
// last five lines, with secrets masked.
func checkLogs(t *testing.T, causes []health.Cause) {
	t.Helper()
	for _, c := range causes {
		lines := strings.Split(c.Log, "\n")
		if len(lines) != 5 || !strings.Contains(lines[1], "«masked:") || lines[4] != `fatal: there is no table "orders"` || strings.Contains(c.Log, "horse") {
			t.Errorf("the log of container %s is %q, want its last five lines, masked", c.Container, c.Log)
		}
	}
}

func TestResourcesShowWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	s := openTwoNamespaces(t, shared.withLogin(t))
	_, fullToken := s.caller(t, "full", allDeployments, whatTheyOwn, logs)
	limited, limitedToken := s.caller(t, "limited", allDeployments)
	stranger, strangerToken := s.caller(t, "stranger")
	reader, readerToken := account(t, s.app, "reader")
	bind(t, s.app, reader, exampleRole(t, "reader"))
	full := s.holding(fullToken)
	install := full.submit(t, http.MethodPost, s.releases(s.app), object{"name": "spread", "chart": object{"ref": "spread"}, "values": object{"db": s.db}})
	s.endsBadly(t, full.events(t.Context(), t, install.Events, 1))

	for _, c := range []struct {
		name, token string
		want        []string // the other namespace's rows
		message     string   // of the other namespace's Deployment
		status      string
		total       int
		causes      []string // the other namespace's
		logs        bool
	}{
		{"all permissions", fullToken, []string{"Deployment", "Pod", "ReplicaSet"}, "", "Progressing", 2, []string{"Pod db CrashLoopBackOff"}, true},
		{"no permission for pods", limitedToken, []string{"Deployment"}, limited + " may not list pods in namespace " + s.db, "Progressing", 2, []string{}, true},
		{"no permission at all", strangerToken, []string{"Deployment"}, stranger + " may not get deployments.apps in namespace " + s.db, "Forbidden", 1, []string{}, true},
		{"no permission for logs", readerToken, []string{"Deployment"}, reader + " may not get deployments.apps in namespace " + s.db, "Forbidden", 1, []string{}, false},
	} {
		var now struct {
			Resources []health.Resource
			Summary   health.Summary
		}
		rows := []string{"Deployment", "Job", "Pod", "Pod", "ReplicaSet"}
		eventually(t, c.name+": the rows in the release's namespace", func() bool {
			now.Resources, now.Summary = nil, health.Summary{}
			s.holding(c.token).get(t, s.release(s.app, "spread")+"/resources", &now)
			return slices.Equal(rows, in(s.app, now.Resources))
		})
		if diff := cmp.Diff(c.want, in(s.db, now.Resources)); diff != "" {
			t.Errorf("%s: rows in the other namespace (-want +got):\n%s", c.name, diff)
		}
		i := slices.IndexFunc(now.Resources, func(r health.Resource) bool { return r.Name == "db" })
		if db := now.Resources[i]; db.Status != c.status || !strings.Contains(db.Message, c.message) {
			t.Errorf("%s: the other namespace's Deployment is %+v, want %s and %q", c.name, db, c.status, c.message)
		}
		if now.Summary.Total != c.total {
			t.Errorf("%s: %d objects count, want %d", c.name, now.Summary.Total, c.total)
		}
		if diff := cmp.Diff(c.causes, causesIn(s.db, now.Summary.Causes)); diff != "" {
			t.Errorf("%s: causes in the other namespace (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff([]string{"Job sql BackoffLimitExceeded", "Pod web CrashLoopBackOff"}, causesIn(s.app, now.Summary.Causes)); diff != "" {
			t.Errorf("%s: causes in the release's namespace (-want +got):\n%s", c.name, diff)
		}
		if c.logs {
			checkLogs(t, now.Summary.Causes)
		} else if i := slices.IndexFunc(now.Summary.Causes, func(c health.Cause) bool { return c.Log != "" }); i >= 0 {
			t.Errorf("%s: a cause has the log %q", c.name, now.Summary.Causes[i].Log)
		}
	}
}

// When a later helmtrail takes a session over, the starter's token is gone. What
// the stream may show stays the same.
func TestASessionTakenOverShowsWhatItsStarterMaySee(t *testing.T) {
	t.Parallel()
	settings := arguments{
		helm: clustertest.Binary(t, "helm4"), dataDir: t.TempDir(), charts: charts,
		more: []string{"--auth", "kubernetes", "--on-stop", "leave", "--drain", "0s"},
	}
	s := openTwoNamespaces(t, serveOn(t, settings))
	_, token := s.caller(t, "limited", allDeployments)
	first := s.holding(token)
	answer := first.submit(t, http.MethodPost, s.releases(s.app), object{
		"name": "spread", "chart": object{"ref": "spread"}, "values": object{"db": s.db, "suspend": true},
	})
	first.awaitEvent(t, answer, func(e helmtrail.Event) bool { _, ok := e.Body.(*helmtrail.ResourceStatus); return ok })
	s.stop()
	next := serveOn(t, settings).holding(token)
	eventually(t, "the namespace is known to be the same one", func() bool {
		var session any
		code := next.call(t, http.MethodGet, s.release(s.app, "spread")+"/sessions/"+answer.SessionID, nil, &session)
		if code != http.StatusOK && code != http.StatusServiceUnavailable {
			t.Fatalf("the session answers %d while the namespaces are being read", code)
		}
		return code == http.StatusOK
	})
	// Only now does the hook's Job create its Pod and fail.
	client, err := batchv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hook's Job exists", func() bool {
		_, err := client.Jobs(s.app).Patch(t.Context(), "migrate", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	})
	events := next.events(t.Context(), t, answer.Events, 1)
	last := s.endsBadly(t, events)
	checkLogs(t, last.Causes)
	if diff := cmp.Diff([]string{"Deployment"}, in(s.db, rowsOf(events))); diff != "" {
		t.Errorf("rows in the other namespace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Deployment", "Job", "Pod", "Pod", "ReplicaSet"}, in(s.app, rowsOf(events))); diff != "" {
		t.Errorf("rows in the release's namespace (-want +got):\n%s", diff)
	}
}

// helmtrail does not know who started an operation outside helmtrail, so its stream is
// limited to the release's namespace.
func TestAnObservedSessionShowsItsNamespaceAlone(t *testing.T) {
	t.Parallel()
	s := openTwoNamespaces(t, shared.withLogin(t))
	_, token := s.caller(t, "full", allDeployments, whatTheyOwn, logs)
	if _, err := clustertest.TryHelm(t, 4, "install", "spread", charts+"/spread", "--namespace", s.app, "--set", "db="+s.db); err == nil {
		t.Fatal("the install by hand did not fail")
	}
	reader := s.holding(token)
	var sessions struct{ Items []helmtrail.Session }
	eventually(t, "the observed session has ended", func() bool {
		reader.get(t, s.release(s.app, "spread")+"/sessions", &sessions)
		return len(sessions.Items) == 1 && sessions.Items[0].End != nil
	})
	events := reader.events(t.Context(), t, fmt.Sprintf("%s/events?sessionId=%s", s.release(s.app, "spread"), sessions.Items[0].ID), 1)
	last := s.endsBadly(t, events)
	rows := rowsOf(events)
	if diff := cmp.Diff([]string{"Deployment"}, in(s.db, rows)); diff != "" {
		t.Errorf("rows in the other namespace (-want +got):\n%s", diff)
	}
	i := slices.IndexFunc(rows, func(r health.Resource) bool { return r.Namespace == s.db })
	if rows[i].Status != health.StatusForbidden || !strings.Contains(rows[i].Message, "may not get deployments.apps in namespace "+s.db) {
		t.Errorf("the other namespace's Deployment is %+v, want it forbidden", rows[i])
	}
	for _, c := range last.Causes {
		if c.Object.Namespace != s.app || c.Log != "" {
			t.Errorf("a cause of another namespace or with a log: %+v", c)
		}
	}
}

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// charts is the folder of the charts that tests install.
const charts = "testdata/charts"

// shop is a release of the chart shop, with methods to change and inspect it.
type shop struct {
	*server
	major           int
	namespace, name string
	core            corev1client.CoreV1Interface
	apps            appsv1client.AppsV1Interface
}

func openShop(t *testing.T, h *server, major int, name string) *shop {
	t.Helper()
	apps, err := appsv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return &shop{server: h, major: major, namespace: clustertest.Namespace(t), name: name, core: clustertest.Core(t), apps: apps}
}

func (s *shop) path() string { return s.release(s.namespace, s.name) }

// do submits an operation and returns its stream up to the end.
func (s *shop) do(t *testing.T, method, path string, body any) []helmtrail.Event {
	t.Helper()
	events := s.events(t.Context(), t, s.submit(t, method, path, body).Events, 1)
	if len(events) == 0 {
		t.FailNow()
	}
	return events
}

func (s *shop) install(t *testing.T, values, options object) []helmtrail.Event {
	t.Helper()
	return s.do(t, http.MethodPost, s.releases(s.namespace), object{
		"name": s.name, "chart": object{"ref": "shop"}, "values": values, "options": options,
	})
}

func (s *shop) upgrade(t *testing.T, values, options object) []helmtrail.Event {
	t.Helper()
	return s.do(t, http.MethodPut, s.path(), object{"chart": object{"ref": "shop"}, "values": values, "options": options})
}

func (s *shop) rollback(t *testing.T, revision int, options object) []helmtrail.Event {
	t.Helper()
	return s.do(t, http.MethodPost, s.path()+"/rollback", object{"revision": revision, "options": options})
}

// expected describes a terminal event. The zero value means COMPLETED and agrees.
type expected struct {
	failed bool
	// message is a part of Helm's error.
	message string
	// release is "revision status", or "" if the release must be gone.
	release string
	// agrees is "yes" by default.
	agrees string
}

// ended checks a session's end.
func ended(t *testing.T, events []helmtrail.Event, want expected) *helmtrail.End {
	t.Helper()
	kind, last := end(t, events)
	wantKind, code := helmtrail.TypeCompleted, 0
	if want.failed {
		wantKind, code = helmtrail.TypeFailed, 1
	}
	release := ""
	if last.Release != nil {
		release = fmt.Sprintf("%d %s", last.Release.Revision, last.Release.Status)
	}
	agrees := "yes"
	switch {
	case last.Agrees == nil:
		agrees = "-"
	case !*last.Agrees:
		agrees = "no"
	}
	if want.agrees == "" {
		want.agrees = "yes"
	}
	if kind != wantKind || last.ExitCode == nil || *last.ExitCode != code || !strings.Contains(last.Message, want.message) ||
		release != want.release || agrees != want.agrees {
		t.Errorf("the session ended %s, exit %+v, message %q, release %q, agrees %s; want %s, exit %d, %+v",
			kind, last.Process, last.Message, release, agrees, wantKind, code, want)
	}
	return last
}

// hasTransitions checks that a stream has the transitions in that order. Others may be
// between them.
func hasTransitions(t *testing.T, events []helmtrail.Event, transitions ...string) {
	t.Helper()
	got := statuses(events)
	at := 0
	for _, want := range transitions {
		found := slices.Index(got[at:], want)
		if found < 0 {
			t.Errorf("%q is missing or out of order in %q", want, got)
			return
		}
		at += found + 1
	}
}

// past is a revision in the history.
type past struct {
	Revision    int
	Status      string
	Description string
	ApplyMethod string
	Gone        *string
}

// history returns the release's revisions in the cluster, oldest first.
func (s *shop) history(t *testing.T) []past {
	t.Helper()
	var list struct{ Items []past }
	s.get(t, s.path()+"/history", &list)
	list.Items = slices.DeleteFunc(list.Items, func(p past) bool { return p.Gone != nil })
	slices.Reverse(list.Items)
	return list.Items
}

// checkHistory checks the newest revisions of the history. A want is "revision status",
// optionally followed by a colon and the beginning of the description.
func (s *shop) checkHistory(t *testing.T, wants ...string) {
	t.Helper()
	history := s.history(t)
	if len(history) < len(wants) {
		t.Errorf("the history is %+v, want %q", history, wants)
		return
	}
	for i, want := range wants {
		h := history[len(history)-len(wants)+i]
		if got := fmt.Sprintf("%d %s: %s", h.Revision, h.Status, h.Description); !strings.HasPrefix(got, want) {
			t.Errorf("the history has %q, want %q", got, want)
		}
	}
}

func (s *shop) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	d, err := s.apps.Deployments(s.namespace).Get(t.Context(), s.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func image(d *appsv1.Deployment) string { return d.Spec.Template.Spec.Containers[0].Image }

// configMap returns nil if the ConfigMap does not exist.
func (s *shop) configMap(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	list, err := s.core.ConfigMaps(s.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	return &list.Items[0]
}

// serving checks that all Pods of the shop are ready and run an image.
func (s *shop) serving(t *testing.T, want string) {
	t.Helper()
	pods, err := s.core.Pods(s.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + s.name})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && pod.Spec.Containers[0].Image == want && pod.DeletionTimestamp == nil {
			return
		}
	}
	t.Errorf("no ready Pod serves %s", want)
}

func offers(today string) object { return object{"enabled": true, "today": today} }

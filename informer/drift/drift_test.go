package drift_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// rights are the verbs of two users. They are compared in different ways and must
// get the same result.
var rights = map[string][]string{"operator": {"*"}, "reader": {"get", "list"}}

func TestNothingDriftsRightAfterAnInstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		for name, chart := range map[string]func(*testing.T) string{
			"demo":  func(*testing.T) string { return filepath.Join("..", "..", "deploy", "demo", "charts", "web") },
			"traps": func(t *testing.T) string { folder, _ := traps(t); return folder },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := install(t, version, chart(t))
				for who, verbs := range rights {
					found := r.drift(comparerAs(t, r.as(verbs...)))
					if diff := cmp.Diff([]string{}, lines(found)); diff != "" || found.Drifted {
						t.Errorf("as a %s it drifts (-want +got):\n%s", who, diff)
					}
					want := map[string]drift.Check{"operator": drift.ByApply, "reader": drift.ByFields}[who]
					for _, o := range found.Objects {
						if o.Checked != want {
							t.Errorf("as a %s, %s %s is checked by %q, want %q: %s", who, o.Kind, o.Name, o.Checked, want, o.Message)
						}
					}
				}
			})
		}
	})
}

func TestChangesByOthersAreDrift(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		chart, group := traps(t)
		r := install(t, version, chart)
		const containers = "/spec/template/spec/containers/0"
		r.patch(deployments, "web", "kubectl-set", `[{"op":"replace","path":"`+containers+`/image","value":"web:2"},{"op":"replace","path":"`+containers+`/resources/requests/cpu","value":"900m"}]`)
		r.patch(deployments, "web", "kubectl", `{"spec":{"replicas":4}}`, "scale")
		r.patch(deployments, "web", "kubectl-edit", `{"metadata":{"labels":{"team":"shop"},"annotations":{"example.com/note":"mine"}},
			"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}},
			"spec":{"terminationGracePeriodSeconds":5,"containers":[{"name":"web","env":[{"name":"EXTRA","value":"1"}]},{"name":"sidecar","image":"sidecar:1"}]}}}}`)
		r.patch(deployments, "web", "sneaky", `[{"op":"remove","path":"`+containers+`/livenessProbe"},{"op":"remove","path":"/metadata/labels/app.kubernetes.io~1managed-by"}]`)
		r.patch(services, "web", "kubectl-edit", `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`)
		r.patch(configmaps, "web", "kubectl-edit", `{"data":{"yes":"yes","more":"more"}}`)
		r.patch(secrets, "web", "kubectl-edit", `{"data":{"password":"b3RoZXItb3RoZXI="}}`)
		r.patch(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}, "web", "kubectl-edit", `{"spec":{"color":"blue","size":7}}`)
		// The chart's own autoscaler sets the replicas of the StatefulSet.
		r.patch(statefulsets, "web", "any-scaler", `{"spec":{"replicas":5}}`, "scale")
		r.remove(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}, "web")
		want := []string{
			`Secret web: data.password "aHVudGVyMi1odW50ZXIy" -> "b3RoZXItb3RoZXI=" by kubectl-edit`,
			`Service web: spec.ports[name="http"].port 80 -> 81 by kubectl-edit`,
			`Deployment web: spec.replicas 2 -> 4 by kubectl`,
			`Deployment web: spec.template.spec.containers[name="web"].image "web:1" -> "web:2" by kubectl-set`,
			`Deployment web: spec.template.spec.containers[name="web"].livenessProbe.httpGet.path "/" -> null by `,
			`Deployment web: spec.template.spec.containers[name="web"].livenessProbe.httpGet.port "http" -> null by `,
			`Deployment web: spec.template.spec.containers[name="web"].resources.requests.cpu "1" -> "900m" by kubectl-set`,
			`Deployment web: metadata.annotations["example.com/note"] added "mine" by kubectl-edit`,
			`Deployment web: metadata.labels.team added "shop" by kubectl-edit`,
			`Deployment web: spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"] added "now" by kubectl-edit`,
			`Deployment web: spec.template.spec.containers[name="web"].env[name="EXTRA"] added {"name":"EXTRA","value":"1"} by kubectl-edit`,
			`Deployment web: spec.template.spec.containers[name="sidecar"] added {"image":"sidecar:1","imagePullPolicy":"IfNotPresent","name":"sidecar","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"} by kubectl-edit`,
			`Deployment web: spec.template.spec.terminationGracePeriodSeconds added 5 by kubectl-edit`,
			`ConfigMap web: data.yes "no" -> "yes" by kubectl-edit`,
			`ConfigMap web: data.more added "more" by kubectl-edit`,
			`ServiceAccount web: missing `,
			`Widget web: spec.color "red" -> "blue" by kubectl-edit`,
			`Widget web: spec.size added 7 by kubectl-edit`,
		}
		for who, verbs := range rights {
			found := r.drift(comparerAs(t, r.as(verbs...)))
			if diff := cmp.Diff(want, lines(found)); diff != "" {
				t.Errorf("as a %s (-want +got):\n%s", who, diff)
			}
		}
	})
}

func TestReplicasSetByAnAutoscalerAreNotDrift(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		r := install(t, version, clustertest.Chart(t))
		r.patch(deployments, "web", "kube-controller-manager", `{"spec":{"replicas":3}}`, "scale")
		for who, verbs := range rights {
			if diff := cmp.Diff([]string{}, lines(r.drift(comparerAs(t, r.as(verbs...))))); diff != "" {
				t.Errorf("as a %s (-want +got):\n%s", who, diff)
			}
		}
		r.patch(deployments, "web", "kubectl", `{"spec":{"replicas":4}}`, "scale")
		if diff := cmp.Diff([]string{"Deployment web: spec.replicas 1 -> 4 by kubectl"}, lines(r.drift(r.comparer))); diff != "" {
			t.Errorf("after scaling by hand (-want +got):\n%s", diff)
		}
	})
}

func TestAnEarlierRevisionIsComparedWithTheLiveObjects(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		chart := clustertest.Chart(t)
		r := install(t, version, chart)
		clustertest.Helm(t, version, "upgrade", "web", chart, "-n", r.namespace, "--set", "tag=2,replicas=2")
		for who, verbs := range rights {
			want := []string{
				`ConfigMap web: data.revision "1" -> "2" by helm`,
				`Deployment web: spec.replicas 1 -> 2 by helm`,
				`Deployment web: spec.template.spec.containers[name="web"].image "web:1" -> "web:2" by helm`,
			}
			if diff := cmp.Diff(want, lines(r.drift(comparerAs(t, r.as(verbs...))))); diff != "" {
				t.Errorf("as a %s, revision 1 differs (-want +got):\n%s", who, diff)
			}
		}
		r.read(2)
		if diff := cmp.Diff([]string{}, lines(r.drift(r.comparer))); diff != "" {
			t.Errorf("revision 2 differs (-want +got):\n%s", diff)
		}
	})
}

func TestFieldsUnknownToTheKindAreNotDrift(t *testing.T) {
	// Helm 4 fails to install this chart.
	chart, _ := traps(t)
	r := install(t, 3, chart, "--set", "unknownField=true")
	for who, verbs := range rights {
		found := r.drift(comparerAs(t, r.as(verbs...)))
		if diff := cmp.Diff([]string{}, lines(found)); diff != "" {
			t.Errorf("as a %s it drifts (-want +got):\n%s", who, diff)
		}
		for _, o := range found.Objects {
			if o.Kind == "Deployment" && (o.Checked != drift.ByFields || strings.Contains(o.Message, "field not declared in schema") != (who == "operator")) {
				t.Errorf("as a %s, the Deployment is checked by %s: %s", who, o.Checked, o.Message)
			}
		}
	}
}

func TestObjectsMissingFromTheRecordAreExtra(t *testing.T) {
	r := install(t, 4, clustertest.Chart(t))
	for name, annotations := range map[string]map[string]string{
		"left":     {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": r.namespace},
		"kept":     {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": r.namespace, "helm.sh/resource-policy": "keep"},
		"another":  {"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": r.namespace},
		"unmarked": nil,
	} {
		_, err := clustertest.Core(t).ConfigMaps(r.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: annotations, Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := r.drift(r.comparer)
	want := []string{"ConfigMap kept: extra helm keeps it, because of its helm.sh/resource-policy", "ConfigMap left: extra "}
	if diff := cmp.Diff(want, lines(found)); diff != "" || !found.Drifted || len(found.Unlisted) > 0 {
		t.Errorf("extra objects (-want +got):\n%s%v, unlisted %v", diff, found.Drifted, found.Unlisted)
	}
	found = r.drift(comparerAs(t, r.as("get")))
	if found.Drifted || !slices.Equal(found.Unlisted, []string{"ConfigMap", "Deployment.apps", "Service"}) {
		t.Errorf("without permission to list: drifted %v, unlisted %v", found.Drifted, found.Unlisted)
	}
}

// unanswered is a transport that never answers a list.
type unanswered struct{ http.RoundTripper }

func (u unanswered) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Has("labelSelector") {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	return u.RoundTripper.RoundTrip(request)
}

func TestUnansweredListsDoNotBlock(t *testing.T) {
	r := install(t, 4, clustertest.Chart(t))
	config := clustertest.Config(t)
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return unanswered{inner} })
	comparer := comparerAs(t, config)
	comparer.Within(3 * time.Second)
	found := r.drift(comparer)
	if found.Counts[drift.Same] != 3 || !slices.Equal(found.Unlisted, []string{"ConfigMap", "Deployment.apps", "Service"}) {
		t.Errorf("compared %v, unlisted %v", found.Counts, found.Unlisted)
	}
}

func TestObjectsThatCannotBeComparedHaveAReason(t *testing.T) {
	r := install(t, 4, trapsWithoutKind(t))
	for _, o := range r.drift(comparerAs(t, r.as("list"))).Objects {
		if o.State != drift.Unknown || !strings.Contains(o.Message, "cannot get resource") {
			t.Errorf("without permission to get it, %s is %s: %s", o.Kind, o.State, o.Message)
		}
	}
	r.record.Manifest += "\n---\nkind: Widget\napiVersion: gone.example.com/v1\nmetadata: {name: web}\n---\n{ no YAML\n---\nkind: Job\napiVersion: batch/v1\nmetadata: {generateName: once-}\n" +
		"---\nkind: ConfigMap\napiVersion: v1\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a/b}\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: ..}\n"
	var unknown []string
	codes := map[drift.NoteCode]bool{}
	for _, o := range r.drift(r.comparer).Objects {
		if o.State != drift.Unknown {
			continue
		}
		unknown = append(unknown, fmt.Sprintf("%s %s: %s", o.Kind, o.Name, o.Message))
		if o.Note != nil {
			codes[o.Note.Code] = true
		}
	}
	if diff := cmp.Diff(map[drift.NoteCode]bool{drift.NoteUnknownKind: true, drift.NoteUnreadable: true, drift.NoteGeneratedName: true}, codes); diff != "" {
		t.Errorf("codes of the notes (-want +got):\n%s", diff)
	}
	want := []string{
		"Widget web: the cluster has no kind Widget in gone.example.com/v1",
		" document 16: this part of the manifest cannot be read",
		"Job once-*: the API server chose its name",
		"ConfigMap : this part of the manifest cannot be read",
		"ConfigMap a/b: this part of the manifest cannot be read",
		"ConfigMap a: this part of the manifest cannot be read",
	}
	if diff := cmp.Diff(want, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

func TestSecretsAreMaskedInADriftReport(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		r := install(t, version, trapsWithoutKind(t))
		r.patch(secrets, "web", "kubectl-edit", `{"stringData":{"password":"canary-live-1234","new":"canary-added-12"}}`)
		r.patch(configmaps, "web", "kubectl-edit", `{"data":{"number":"canary-live-1234","of-canary-live-1234":"x","url":"https://u:canary-url-1234@example.com"}}`)
		r.patch(deployments, "web", "kubectl-edit", `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"DB_PASSWORD","value":"canary-env-1234"}]}]}}}}`)
		masker := mask.New([]byte("0123456789abcdef"), mask.Release{Cluster: "dev", Namespace: r.namespace, Name: "web"})
		for who, verbs := range rights {
			found, err := comparerAs(t, r.as(verbs...)).Drift(t.Context(), drift.Query{Release: r.ref(), Record: r.record, Masker: masker})
			if err != nil {
				t.Fatal(err)
			}
			reported := lines(found)
			if len(reported) != 6 {
				t.Errorf("as a %s: %q", who, reported)
			}
			for _, line := range reported {
				if strings.Contains(line, "canary") || strings.Contains(line, "hunter2") || strings.Contains(line, "Y2FuYXJ5") || !strings.Contains(line, "«masked:") {
					t.Errorf("as a %s: %s", who, line)
				}
			}
		}
	})
}

// https://github.com/helm/helm/issues/11347: a Job that its TTL removed is no drift
// if it was seen to end, and is not known to be missing if not.
func TestAJobThatItsTTLRemovedIsDrift(t *testing.T) {
	r := &release{t: t, namespace: clustertest.Namespace(t)}
	r.comparer = comparerAs(t, clustertest.Config(t))
	r.record = &decoder.Record{Header: decoder.Header{LastDeployed: time.Now()}, Manifest: "kind: Job\napiVersion: batch/v1\nmetadata: {name: once}\nspec: {ttlSecondsAfterFinished: 2}\n" +
		"---\nkind: Job\napiVersion: batch/v1\nmetadata: {name: stays}\n"}
	for end, want := range map[resources.End]drift.Object{
		resources.EndCompleted: {State: drift.Same, Note: &drift.Note{Code: drift.NoteRemovedByTTL}},
		resources.EndFailed:    {State: drift.Same, Note: &drift.Note{Code: drift.NoteRemovedByTTL}},
		resources.EndDeleted:   {State: drift.Missing},
		resources.EndUnknown:   {State: drift.Unknown, Note: &drift.Note{Code: drift.NoteOutcomeUnknown}},
	} {
		r.comparer.EndOf = func(namespace, name string, since time.Time) resources.End {
			if namespace != r.namespace || name != "once" || !since.Equal(r.record.LastDeployed) {
				t.Errorf("asked for %s/%s since %s", namespace, name, since)
			}
			return end
		}
		report := r.drift(r.comparer)
		got := report.Objects[0]
		if got.State != want.State || !cmp.Equal(got.Note, want.Note) || (got.Message == "") != (want.Note == nil) {
			t.Errorf("%s: %+v", end, got)
		}
		if other := report.Objects[1]; other.State != drift.Missing {
			t.Errorf("a Job without a TTL is %s", other.State)
		}
	}
}

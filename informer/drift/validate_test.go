package drift_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	driftcheck "github.com/helmtrail/helmtrail/informer/drift"
)

// verdicts returns a validation's message and a line for each object. It checks
// that helmtrail's own messages have a note.
func (r *release) verdicts(comparer *driftcheck.Comparer, manifest string) (string, []string) {
	r.t.Helper()
	masker := mask.New([]byte("0123456789abcdef"), mask.Release{Cluster: "dev", Namespace: r.namespace, Name: "web"})
	query := drift.ValidationQuery{Release: r.ref(), Manifest: manifest, Masker: masker}
	if r.record != nil {
		query.Known = []mask.Source{mask.FromRecord(r.record)}
	}
	found, err := comparer.Validate(r.t.Context(), query)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, o := range found.Objects {
		line := fmt.Sprintf("%s %s: %s %s", o.Kind, o.Name, o.Verdict, o.Message)
		if ours := o.Message != "" && o.Verdict != drift.VerdictRefused; ours != (o.Note != nil) {
			r.t.Errorf("%s has the note %v", line, o.Note)
		}
		for _, c := range o.Conflicts {
			if c.Field == "" || !strings.HasPrefix(c.Warning, c.Detail+" at "+c.Field) || !slices.Contains(o.Warnings, c.Warning) {
				r.t.Errorf("%s has the conflict %+v beside the warnings %q", line, c, o.Warnings)
			}
		}
		for _, c := range o.Changes {
			line += fmt.Sprintf(" %s %s -> %s", c.Path, c.Live, c.Recorded)
		}
		all = append(all, strings.TrimSpace(line+" "+strings.Join(o.Warnings, " ")))
	}
	if (found.Message != "") != (found.Note != nil) {
		r.t.Errorf("the message %q has the note %v", found.Message, found.Note)
	}
	return found.Message, all
}

func TestARenderedManifestIsValidatedByTheAPIServer(t *testing.T) {
	chart, group := traps(t)
	r := install(t, 4, chart)
	masked := mask.New([]byte("0123456789abcdef"), mask.Release{Cluster: "dev", Namespace: r.namespace, Name: "web"}).Collect(mask.FromRecord(r.record)).Manifest(r.record.Manifest)
	if !strings.Contains(masked, "«masked:") {
		t.Fatal("nothing is masked")
	}
	_, same := r.verdicts(r.comparer, masked)
	for _, line := range same {
		if !strings.HasSuffix(line, ": unchanged") {
			t.Errorf("the installed manifest: %s", line)
		}
	}

	if _, err := clustertest.Core(t).ResourceQuotas(r.namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("1")}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The API server enforces a new quota with a delay.
	enforced := func(ctx context.Context) (bool, error) {
		more := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one-more"}}
		_, err := clustertest.Core(t).Secrets(r.namespace).Create(ctx, more, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err), nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, enforced); err != nil {
		t.Fatal(err)
	}
	manifest := strings.ReplaceAll(`
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {"yes": "changed", number: "1.0", empty: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: new}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: wrong}
spec: {replicas: abc, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: unfit}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {other: b}}, spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: v1
kind: Secret
metadata: {name: one-too-many}
data: {password: «masked:0123456789abcdef»}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: old}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: GROUP/v1
kind: Gadget
metadata: {name: mine}
---
apiVersion: GROUP/v1
kind: Widget
metadata: {name: mine}
spec: {size: big}
`, "GROUP", group)
	_, got := r.verdicts(r.comparer, manifest)
	// Rejected and unknown objects come first, the others in the manifest's order.
	wanted := []string{
		`Deployment wrong: refused failed to create typed patch object (` + r.namespace + `/wrong; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string`,
		"Deployment unfit: refused Deployment.apps \"unfit\" is invalid: spec.template.metadata.labels: Invalid value: {\"other\":\"b\"}: `selector` does not match template `labels`",
		`Secret one-too-many: refused secrets "one-too-many" is forbidden: exceeded quota: few`,
		`Widget mine: refused`,
		`PodDisruptionBudget old: unknown the cluster has no kind PodDisruptionBudget in policy/v1beta1; should it come with a CustomResourceDefinition of the chart, it can be tried once that is installed`,
		`Gadget mine: unknown the cluster has no kind Gadget in ` + group + `/v1; it comes with CustomResourceDefinition gadgets.` + group + ` of the same chart and can be tried once that is installed`,
		`ConfigMap web: change  data.yes "no" -> "changed"`,
		`ConfigMap new: create`,
		`CustomResourceDefinition gadgets.` + group + `: create`,
	}
	if len(got) != len(wanted) {
		t.Fatalf("verdicts: %q", got)
	}
	for i, want := range wanted {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("got %s\nwant %s", got[i], want)
		}
	}
	if _, err := clustertest.Core(t).ConfigMaps(r.namespace).Get(t.Context(), "new", metav1.GetOptions{}); err == nil {
		t.Error("a validation has created an object")
	}

	_, got = r.verdicts(comparerAs(t, r.as("get")), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n")
	if len(got) != 1 || !strings.HasPrefix(got[0], `ConfigMap new: refused configmaps "new" is forbidden: User `) {
		t.Errorf("without permission to patch: %q", got)
	}
}

func TestConflictingFieldOwnersAreReported(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		r := install(t, version, clustertest.Chart(t))
		r.patch(deployments, "web", "kubectl", `{"spec":{"replicas":4}}`, "scale")
		// Helm 3 has no conflicts.
		want := map[int]string{3: "", 4: ` conflict with "kubectl" with subresource "scale" using apps/v1 at .spec.replicas: helm takes it over only with forceConflicts`}[version]
		_, got := r.verdicts(r.comparer, r.record.Manifest)
		if last := got[len(got)-1]; last != "Deployment web: change  spec.replicas 4 -> 1"+want {
			t.Errorf("the verdict is %q", last)
		}
	})
}

func TestAHookThatRanIsValidatedAsANewObject(t *testing.T) {
	r := install(t, 4, clustertest.Chart(t))
	// A Job's Pod template is immutable. Helm does not care if it deletes the Job
	// first.
	const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade%s}}
spec: {template: {spec: {restartPolicy: %s, containers: [{name: once, image: "done:%d"}]}}}
`
	var made map[string]any
	if err := yaml.Unmarshal([]byte(fmt.Sprintf(job, "", "Never", 1)), &made); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.Resource(jobs).Namespace(r.namespace).Create(t.Context(), &unstructured.Unstructured{Object: made}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]string{
		"": "Job migrate: create helm deletes the one that is there and makes it anew",
		", helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'": "Job migrate: create helm deletes the one that is there and makes it anew",
		", helm.sh/hook-delete-policy: hook-failed":                           "Job migrate: refused Job.batch \"migrate\" is invalid: spec.template: Invalid value",
	} {
		if _, got := r.verdicts(r.comparer, fmt.Sprintf(job, policy, "Never", 2)); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("with policy %q: %q", policy, got)
		}
	}
	if _, got := r.verdicts(r.comparer, fmt.Sprintf(job, "", "Sometimes", 2)); !strings.Contains(got[0], "refused") || !strings.Contains(got[0], "restartPolicy") || strings.Contains(got[0], "migrate-") {
		t.Errorf("one that is wrong: %q", got)
	}
}

func TestAMissingNamespaceIsNotAnError(t *testing.T) {
	config := clustertest.Config(t)
	r := &release{t: t, namespace: "not-made-yet", client: dynamicClient(t, config), comparer: comparerAs(t, config)}
	message, got := r.verdicts(r.comparer, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndata: [1]\n")
	if diff := cmp.Diff("ConfigMap new: create", got[1]); diff != "" || !strings.HasPrefix(got[0], "ConfigMap wrong: refused failed to create typed patch object") {
		t.Errorf("verdicts: %q", got)
	}
	if !strings.HasPrefix(message, "Namespace not-made-yet does not exist yet") {
		t.Errorf("message: %q", message)
	}
}

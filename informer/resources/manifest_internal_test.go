package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
)

func TestObjectsOfARecord(t *testing.T) {
	tests := []struct {
		name   string
		record decoder.Record
		want   []string
	}{
		{"nothing", decoder.Record{}, nil},
		{"documents without content", decoder.Record{Manifest: "---\n\n---\n# Source: web/templates/none.yaml\n---\n{}\n"}, nil},
		{
			"documents as helm writes them",
			decoder.Record{SecretNamespace: "ns", Manifest: `---
# Source: web/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  text: |
    apiVersion: not/this
    ---
    kind: NotThis
---
# Source: web/templates/b.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: b
  namespace: other
`},
			[]string{"v1 ConfigMap ns/a", "apps/v1 Deployment other/b"},
		},
		{
			"a list",
			decoder.Record{SecretNamespace: "ns", Manifest: `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}
`},
			[]string{"v1 Service ns/a", "v1 ConfigMap ns/b"},
		},
		{
			"hooks, one of them also in the manifest",
			decoder.Record{
				SecretNamespace: "ns",
				Manifest:        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
				Hooks: []decoder.Hook{
					{
						Manifest: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
						Events:   []release.HookEvent{release.HookPreInstall, release.HookPreUpgrade},
					},
				},
			},
			[]string{"v1 Secret ns/s", "batch/v1 Job ns/j (pre-install, pre-upgrade)"},
		},
		{
			"an unreadable document does not affect the others",
			decoder.Record{SecretNamespace: "ns", Manifest: `a: "open
---
[1, 2]
---
apiVersion: v1
kind: Pod
metadata: {generateName: web-}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
`},
			[]string{
				"document 1: this part of the manifest cannot be read",
				"document 2: this part of the manifest cannot be read",
				"v1 Pod ns/web-*: the API server chose its name",
				"v1 Pod ns/p",
			},
		},
		{"the record's own namespace, without the Secret's", decoder.Record{Namespace: "r", Manifest: "apiVersion: v1\nkind: Pod\nmetadata: {name: p}"}, []string{"v1 Pod r/p"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, o := range objects(&test.record) {
				line := o.name
				if o.gvk.Kind != "" {
					line = o.gvk.GroupVersion().String() + " " + o.gvk.Kind + " " + o.namespace + "/" + o.name
				}
				if o.hook != "" {
					line += " (" + o.hook + ")"
				}
				if o.problem != "" {
					line += ": " + o.problem
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster may have hundreds of CRDs, each with a schema of a megabyte.
func TestWatchesKeepNeitherSchemasNorTemplates(t *testing.T) {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name": "widgets.example.com", "managedFields": []any{map[string]any{"manager": "helm"}},
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "kept"},
		},
		"spec":   map[string]any{"group": "example.com", "versions": []any{"schema"}, "template": "pods"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}}
	want := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com", "annotations": map[string]any{"note": "kept"}},
		"spec":     map[string]any{"group": "example.com"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}
	stripped, err := otherKind.watching.strip(definition)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stripped.(*unstructured.Unstructured).Object); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if row := assessmentOf(otherKind, health.Resource{}, definition).row; row.Status != statusReady || !row.Current {
		t.Errorf("its row is %+v", row)
	}
}

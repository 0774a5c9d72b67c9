package resources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/helmtrail/helmtrail/health"
)

// tableFile is the file that holds the table of kinds.
const tableFile = "kindtable.go"

// Every field of a row is set: nothing about a kind is decided by accident.
func TestEveryRowOfTheKindTableIsComplete(t *testing.T) {
	for _, k := range append(slices.Clone(kinds), otherKind, customKind) {
		row := reflect.ValueOf(*k)
		for i := range row.NumField() {
			name := row.Type().Field(i).Name
			if row.Field(i).IsZero() && !(name == "GroupVersionKind" && k.resource == "*") {
				t.Errorf("the row of %q (%s) has no %s", k.Kind, k.resource, name)
			}
		}
		watching := reflect.ValueOf(k.watching)
		for i := range watching.NumField() {
			if watching.Field(i).IsZero() {
				t.Errorf("in the row of %q (%s), the watch has no %s", k.Kind, k.resource, watching.Type().Field(i).Name)
			}
		}
		if k.resource == "*" {
			continue
		}
		if kindOf(schema.GroupResource{Group: k.Group, Resource: k.resource}) != k {
			t.Errorf("the row of %s is not found by its resource %s", k.Kind, k.resource)
		}
		if builtIn(k.Group) && !scheme.Scheme.Recognizes(k.GroupVersionKind) {
			t.Errorf("Kubernetes has no %s", k.GroupVersionKind)
		}
		if runs := slices.Contains(k.owns, podKind); runs != (k.pods != noPods) {
			t.Errorf("%s owns pods: %t, and its policy for them is %s", k.Kind, runs, k.pods)
		}
		if !slices.Contains(health.Problems, k.unready) {
			t.Errorf("%s is unready with problem %q, which has no sentence", k.Kind, k.unready)
		}
		if _, _, err := testObject(k); err != nil {
			t.Errorf("an empty %s: %v", k.Kind, err)
		}
	}
	var named []string
	for _, k := range kinds {
		named = append(named, k.GroupKind().String())
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(named))); len(unique) != len(named) {
		t.Errorf("a kind has two rows: %v", named)
	}
}

// Every kind that the file defines is in the table.
func TestEveryKindIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), tableFile, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	defined, listed := []string{}, []string{"otherKind", "customKind"}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		switch value := spec.Values[0].(type) {
		case *ast.UnaryExpr: // &kind{...}
			defined = append(defined, spec.Names[0].Name)
		case *ast.CompositeLit:
			if spec.Names[0].Name != "kinds" {
				return false
			}
			for _, element := range value.Elts {
				if name, ok := element.(*ast.Ident); ok {
					listed = append(listed, name.Name)
				}
			}
		}
		return false
	})
	slices.Sort(defined)
	slices.Sort(listed)
	if diff := cmp.Diff(defined, listed); diff != "" {
		t.Errorf("kinds (-defined +listed):\n%s", diff)
	}
}

// The reader role may read every kind in the table except Secrets.
func TestTheReaderMayReadEveryKind(t *testing.T) {
	role, err := os.ReadFile("../../deploy/rbac/reader.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if k != secretKind && !regexp.MustCompile(`(?m)^    resources: \[.*\b`+k.resource+`\b`).Match(role) {
			t.Errorf("deploy/rbac/reader.yaml has no %s", k.resource)
		}
	}
}

// testObject judges and counts an object of a kind that has no status yet.
func testObject(k *kind) (judgement, int, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(k.GroupVersionKind)
	j, err := k.judge(object)
	_, _, total := k.count(object)
	return j, total, err
}

// Where an object's dependents, and the events about them, are looked up decides
// which permissions a viewer needs.
func TestPlacesBelowAKind(t *testing.T) {
	const warned, claimed = "events " + warnings, "events " + claimEvents
	cases := map[schema.GroupVersionResource][]string{
		{Group: "apps", Version: "v1", Resource: "deployments"}:                      {warned, "pods", "replicasets.apps"},
		{Group: "apps", Version: "v1beta2", Resource: "deployments"}:                 {warned, "pods", "replicasets.apps"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"}:                     {claimed, warned, "persistentvolumeclaims", "pods"},
		{Group: "apps", Version: "v1", Resource: "replicasets"}:                      {warned, "pods"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"}:                       {warned, "pods"},
		{Version: "v1", Resource: "replicationcontrollers"}:                          {warned, "pods"},
		{Group: "apps.openshift.io", Version: "v1", Resource: "deploymentconfigs"}:   {warned, "pods", "replicationcontrollers"},
		{Group: "batch", Version: "v1", Resource: "jobs"}:                            {warned, "pods"},
		{Group: "batch", Version: "v1", Resource: "cronjobs"}:                        {warned, "jobs.batch", "pods"},
		{Version: "v1", Resource: "pods"}:                                            {warned},
		{Version: "v1", Resource: "persistentvolumeclaims"}:                          {claimed},
		{Version: "v1", Resource: "services"}:                                        nil,
		{Version: "v1", Resource: "secrets"}:                                         nil,
		{Version: "v1", Resource: "configmaps"}:                                      nil,
		{Version: "v1", Resource: "events"}:                                          nil,
		{Group: "extensions", Version: "v1beta1", Resource: "deployments"}:           nil,
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}:           nil,
		{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}:            {warned, "pods", "replicasets.apps"},
		{Group: "apps.kruise.io", Version: "v1beta1", Resource: "statefulsets"}:      {warned, "pods", "replicasets.apps"},
		{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}:           {warned, "pods", "replicasets.apps"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}:       nil,
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}: {warned, "pods", "replicasets.apps"},
	}
	for _, k := range kinds {
		if _, ok := cases[k.GroupVersion().WithResource(k.resource)]; !ok {
			t.Errorf("%s has no case", k.resource)
		}
	}
	for resource, want := range cases {
		var got []string
		for _, p := range (place{resource: resource, namespace: "ns"}).below() {
			if p.namespace != "ns" {
				t.Errorf("%s: %v is in another namespace", resource.GroupResource(), p)
			}
			got = append(got, strings.TrimSpace(p.resource.GroupResource().String()+" "+p.fields))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", resource.GroupResource(), diff)
		}
		if below := (place{resource: resource}).below(); below != nil {
			t.Errorf("%s of the whole cluster has dependents in %v", resource.GroupResource(), below)
		}
	}
}

// A custom kind inherits how pods are selected, and its problem while unready,
// from a built-in kind of the same name.
func TestACustomKindInheritsFromABuiltInOneOfItsName(t *testing.T) {
	set := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"updateRevision": "web-2"}}}
	kruise := mappedKind(schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1beta1", Kind: "StatefulSet"}, schema.GroupResource{Group: "apps.kruise.io", Resource: "statefulsets"})
	if g := kruise.generation(set); !g.older(map[string]string{"controller-revision-hash": "web-1"}) || g.older(map[string]string{"controller-revision-hash": "web-2"}) || g.older(nil) {
		t.Errorf("OpenKruise's StatefulSet marks its pods with %+v", g)
	}
	volcano := mappedKind(schema.GroupVersionKind{Group: "batch.volcano.sh", Version: "v1alpha1", Kind: "Job"}, schema.GroupResource{Group: "batch.volcano.sh", Resource: "jobs"})
	if volcano.unready != health.ProblemNotEnded {
		t.Errorf("Volcano's Job is unready with %q", volcano.unready)
	}
	if _, total, err := testObject(volcano); total != 0 || err != nil {
		t.Errorf("Volcano's Job counts %d pods, %v", total, err)
	}
	if customKind.unready != health.ProblemNotReady {
		t.Error("a kind with a built-in name has changed the row for all custom kinds")
	}
}

// Everything the package knows about a kind stands in the table. Elsewhere no
// string names a kind or its resource, and only the functions named in the table
// branch on an object's Go type.
func TestNoKindIsNamedOutsideTheTable(t *testing.T) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Kind, k.resource)
	}
	naming := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == tableFile {
			continue
		}
		files++
		fileset := token.NewFileSet()
		file, err := parser.ParseFile(fileset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && naming.MatchString(text) {
					t.Errorf("%s: %s names a kind; it belongs in %s", fileset.Position(n.Pos()), n.Value, tableFile)
				}
			case *ast.TypeSwitchStmt:
				t.Errorf("%s: a switch over Go types; what differs between kinds belongs in %s", fileset.Position(n.Pos()), tableFile)
			}
			return true
		})
	}
	if files < 10 {
		t.Errorf("only %d files were read", files)
	}
}

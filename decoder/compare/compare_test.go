package compare_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder/compare"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestValuesAreComparedByPathWithEveryDigit(t *testing.T) {
	const from = `{"same":{"b":[1],"a":null},"id":12345678901234567890,"ratio":1.10,"list":[1,2,3],"gone":{"x":1},"kind":{"a":1},"dotted.key":1,"null":null}`
	const to = `{"id":12345678901234567891,"same":{"a":null,"b":[1]},"ratio":1.1,"list":[1,9],"kind":"text","dotted.key":2,"new":"«x»"}`
	got, err := compare.Values(raw(from), raw(to))
	if err != nil {
		t.Fatal(err)
	}
	want := []compare.Value{
		{Path: `["dotted.key"]`, Change: compare.Changed, From: raw("1"), To: raw("2")},
		{Path: "gone", Change: compare.Removed, From: raw(`{"x":1}`), To: raw("null")},
		{Path: "id", Change: compare.Changed, From: raw("12345678901234567890"), To: raw("12345678901234567891")},
		{Path: "kind", Change: compare.Changed, From: raw(`{"a":1}`), To: raw(`"text"`)},
		{Path: "list[1]", Change: compare.Changed, From: raw("2"), To: raw("9")},
		{Path: "list[2]", Change: compare.Removed, From: raw("3"), To: raw("null")},
		{Path: "new", Change: compare.Added, From: raw("null"), To: raw(`"«x»"`)},
		{Path: "null", Change: compare.Removed, From: raw("null"), To: raw("null")},
		{Path: "ratio", Change: compare.Changed, From: raw("1.10"), To: raw("1.1")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got, err := compare.Values(nil, raw("{}")); err != nil || len(got) != 0 {
		t.Errorf("no values and {} differ by %v, error %v", got, err)
	}
}

const manifest = `---
# Source: web/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {x: "1", y: "two"}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: b, namespace: other}
spec:
  minAvailable: 1
---
apiVersion: v1
kind: Service
metadata: {name: c}
`

func TestOrderAndFormattingOfManifestsDoNotCount(t *testing.T) {
	const same = `# another comment
kind: Service
apiVersion: "v1"
metadata:
    name: 'c'
---
{"kind":"PodDisruptionBudget","apiVersion":"policy/v1beta1","spec":{"minAvailable":1},"metadata":{"namespace":"other","name":"b"}}
---
x: &x {name: a, namespace: shop}
---
kind: ConfigMap
apiVersion: v1
data:
  y: >-
    two
  x: "1"
metadata: {name: a}
`
	got, err := compare.Objects(compare.Manifest{Text: manifest, Namespace: "shop"}, compare.Manifest{Text: same, Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	// Only the document that is not an object is new.
	if len(got) != 1 || got[0].Change != compare.Added || got[0].Name != "document 3" {
		t.Errorf("differences: %+v", got)
	}
}

func TestManifestsAreComparedByObject(t *testing.T) {
	changed := strings.NewReplacer(`y: "two"`, `y: "three"`, "policy/v1beta1", "policy/v1", "kind: Service", "kind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: d}").Replace(manifest)
	got, err := compare.Objects(compare.Manifest{Text: manifest, Namespace: "shop"}, compare.Manifest{Text: changed, Namespace: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	want := []compare.Object{
		{Change: compare.Changed, APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a", Diff: `--- from
+++ to
@@ -1,7 +1,7 @@
 apiVersion: v1
 data:
   x: "1"
-  "y": two
+  "y": three
 kind: ConfigMap
 metadata:
   name: a
`},
		{Change: compare.Added, APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "d", Diff: `--- from
+++ to
@@ -0,0 +1,4 @@
+apiVersion: v1
+kind: Pod
+metadata:
+  name: d
`},
		{Change: compare.Changed, APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Namespace: "other", Name: "b", Diff: `--- from
+++ to
@@ -1,4 +1,4 @@
-apiVersion: policy/v1beta1
+apiVersion: policy/v1
 kind: PodDisruptionBudget
 metadata:
   name: b
`},
		{Change: compare.Removed, APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "c", Diff: `--- from
+++ to
@@ -1,4 +0,0 @@
-apiVersion: v1
-kind: Service
-metadata:
-  name: c
`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestEqualObjectsDoNotDifferWhateverTheirOrder(t *testing.T) {
	const unreadable = "---\n{{ no yaml\n"
	const twice = "---\nkind: Pod\nmetadata: {name: twice}\nspec: 1\n---\nkind: Pod\nmetadata: {name: twice}\nspec: 2\n"
	const swapped = "---\nkind: Pod\nmetadata: {name: twice}\nspec: 2\n---\nkind: Pod\nmetadata: {name: twice}\nspec: 1\n"
	got, err := compare.Objects(compare.Manifest{Text: unreadable + "---\na: 1\n---\nb: 1\n" + twice}, compare.Manifest{Text: swapped + "---\nb: 1\n" + unreadable})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Change != compare.Removed || got[0].Name != "document 2" {
		t.Errorf("differences: %+v", got)
	}
	// In another namespace the same text describes other objects.
	got, err = compare.Objects(compare.Manifest{Text: twice, Namespace: "one"}, compare.Manifest{Text: twice, Namespace: "other"})
	if err != nil || len(got) != 4 {
		t.Errorf("between namespaces: %+v, error %v", got, err)
	}
}

// BenchmarkObjects compares manifests of 700 KB in which one object changed.
func BenchmarkObjects(b *testing.B) {
	var text strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&text, "---\n# Source: web/templates/all.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-%d\n  labels:\n    app.kubernetes.io/name: web\ndata:\n", i)
		for key := range 20 {
			fmt.Fprintf(&text, "  key-%d: the value of %d\n", key, i)
		}
	}
	from := compare.Manifest{Text: text.String(), Namespace: "shop"}
	to := compare.Manifest{Text: strings.Replace(from.Text, "key-7: the value of 500", "key-7: another", 1), Namespace: "shop"}
	b.SetBytes(int64(len(from.Text)))
	for b.Loop() {
		if got, err := compare.Objects(from, to); err != nil || len(got) != 1 {
			b.Fatalf("%d differences, error %v", len(got), err)
		}
	}
}

func FuzzObjects(f *testing.F) {
	f.Add(manifest, "kind: List\nitems: [{kind: A}, {kind: A}]\n")
	f.Add("a: &a [*a]\n", "a: &a {b: 1}\nc: {<<: [*a, *a]}\n")
	f.Fuzz(func(t *testing.T, from, to string) {
		_, errBoth := compare.Objects(compare.Manifest{Text: from}, compare.Manifest{Text: to})
		if errBoth != nil {
			return
		}
		same, err := compare.Objects(compare.Manifest{Text: from}, compare.Manifest{Text: from})
		if err != nil || len(same) != 0 {
			t.Errorf("%q differs from itself: %+v, error %v", from, same, err)
		}
	})
}

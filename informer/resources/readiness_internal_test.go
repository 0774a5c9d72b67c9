package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/health"
)

// readinessCase is a case of testdata/readiness; its README.md describes the fields.
type readinessCase struct {
	Case      string             `json:"case"`
	Source    string             `json:"source"`
	Object    jsonText           `json:"object"`
	ReadyPods int                `json:"readyPods"`
	Helmtrail health.State       `json:"helmtrail"`
	Reason    string             `json:"reason"`
	Kstatus   string             `json:"kstatus"`
	Helm3     health.HelmVerdict `json:"helm3"`
	Helm4     health.HelmVerdict `json:"helm4"`
	Why       string             `json:"why"`
}

// jsonText is JSON that is decoded later, as the API server's answers are.
type jsonText []byte

func (j *jsonText) UnmarshalJSON(text []byte) error {
	*j = append(jsonText{}, text...)
	return nil
}

func (c readinessCase) object(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(c.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func readinessCases(t *testing.T) []readinessCase {
	t.Helper()
	files, err := filepath.Glob("testdata/readiness/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []readinessCase
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []readinessCase
		if err := yaml.UnmarshalStrict(content, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, cases...)
	}
	return all
}

// kindFor returns the row of the table for an object.
func kindFor(object *unstructured.Unstructured) *kind {
	plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	return mappedKind(object.GroupVersionKind(), plural.GroupResource())
}

// kstatusSays returns kstatus' status of an object, Error if it fails.
func kstatusSays(object *unstructured.Unstructured) string {
	result, err := status.Compute(object)
	if err != nil {
		return "Error"
	}
	return string(result.Status)
}

// differences returns by whom a case is judged otherwise than by helmtrail.
func (c readinessCase) differences() []string {
	current := c.Helmtrail == health.StateReady || c.Helmtrail == health.StateWarning
	var differ []string
	if c.Kstatus == "Error" || stateOfKstatus(status.Status(c.Kstatus)) != c.Helmtrail {
		differ = append(differ, "kstatus")
	}
	if (c.Helm3 == health.HelmReady) != current {
		differ = append(differ, "Helm 3")
	}
	if (c.Helm4 == health.HelmReady) != current {
		differ = append(differ, "Helm 4")
	}
	return differ
}

// The corpus holds what helmtrail, kstatus and both Helms say of the same objects.
// Where helmtrail differs, a sentence says why.
func TestReadinessCorpus(t *testing.T) {
	cases := readinessCases(t)
	names := map[string]bool{}
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			if names[c.Case] || c.Source == "" {
				t.Errorf("the case has no source, or its name is used twice")
			}
			names[c.Case] = true
			object := c.object(t)
			k := kindFor(object)
			a := assessmentOf(k, health.Resource{Kind: object.GetKind(), APIVersion: object.GetAPIVersion()}, object)
			if a.row.State != c.Helmtrail || a.row.Reason != c.Reason {
				t.Errorf("helmtrail says %s (%s: %s), want %s (%s)", a.row.State, a.row.Reason, a.row.Message, c.Helmtrail, c.Reason)
			}
			if stateOf(&a.row) != a.row.State {
				t.Errorf("state %s becomes %s in a completed row", a.row.State, stateOf(&a.row))
			}
			if says := kstatusSays(object); says != c.Kstatus {
				t.Errorf("kstatus says %s, not %s", says, c.Kstatus)
			}
			if says := helm3Verdict(k, object, c.ReadyPods); says != c.Helm3 {
				t.Errorf("Helm 3 says %s, not %s", says, c.Helm3)
			}
			if says, _ := helm4Verdict(object); says != c.Helm4 {
				t.Errorf("Helm 4 says %s, not %s", says, c.Helm4)
			}
			switch differ := c.differences(); {
			case len(differ) > 0 && c.Why == "":
				t.Errorf("helmtrail differs from %s, and no sentence says why", strings.Join(differ, ", "))
			case len(differ) == 0 && c.Why != "":
				t.Errorf("nobody differs, but a sentence says why: %s", c.Why)
			case c.Why != "" && (!strings.HasSuffix(c.Why, ".") || strings.Count(c.Why, ". ") > 0):
				t.Errorf("not one sentence: %s", c.Why)
			}
		})
	}
	if len(cases) < 100 {
		t.Errorf("only %d cases", len(cases))
	}
}

// Each kind of the corpus appears healthy and otherwise; the states that a reader
// can meet are all there.
func TestReadinessCorpusCoversEveryState(t *testing.T) {
	states := map[health.State]int{}
	for _, c := range readinessCases(t) {
		states[c.Helmtrail]++
	}
	for _, state := range health.States {
		if states[state] == 0 {
			t.Errorf("no case is %s", state)
		}
	}
	t.Log(fmt.Sprint(states))
}

// A status may hold anything. None of it makes the judgement panic, or a ready
// object unknown.
func TestOddFieldsOfAStatusAreSkipped(t *testing.T) {
	odd := []any{nil, true, int64(3), 1.5, "", "text", []any{}, []any{nil, "x", int64(1), []any{}, map[string]any{}}, map[string]any{}, map[string]any{"type": int64(1), "status": []any{}}}
	for _, c := range readinessCases(t) {
		object := c.object(t)
		k := kindFor(object)
		if k != customKind {
			continue // the API server checks the types of the others
		}
		fields, _ := object.Object["status"].(map[string]any)
		for _, name := range []string{"extra", "observedGeneration", "phase", "state", "message", "replicas", "conditions", "ingress", "parents", "health"} {
			for _, value := range odd {
				changed := object.DeepCopy()
				status := map[string]any{}
				for key, was := range fields {
					status[key] = was
				}
				status[name] = value
				changed.Object["status"] = status
				row := assessmentOf(k, health.Resource{}, changed).row
				if row.State == health.StateUnknown && c.Helmtrail != health.StateUnknown || row.State == "" {
					t.Errorf("%s with %s: %v is %s: %s", c.Case, name, value, row.State, row.Message)
				}
			}
		}
		for _, value := range odd {
			changed := object.DeepCopy()
			list, _, _ := unstructured.NestedSlice(changed.Object, "status", "conditions")
			if len(list) == 0 || c.Helmtrail != health.StateReady {
				continue
			}
			_ = unstructured.SetNestedSlice(changed.Object, append([]any{}, list...), "status", "conditions")
			changed.Object["status"].(map[string]any)["conditions"] = append([]any{value}, list...)
			if row := assessmentOf(k, health.Resource{}, changed).row; row.State != health.StateReady {
				t.Errorf("%s with the condition %v is %s: %s", c.Case, value, row.State, row.Message)
			}
		}
	}
}

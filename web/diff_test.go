package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRevisionsOfDifferentReleasesAreCompared(t *testing.T) {
	a := newArchive(t)
	record := func(tag, password, extra string) string {
		return `"info":{"status":"superseded","notes":"tag ` + tag + `"},"config":{"tag":"` + tag + `","db":{"password":"` + password + `"}` + extra + `},` +
			`"manifest":"kind: Pod\nmetadata: {name: a}\nspec: {tag: ` + tag + `}\n",` +
			`"hooks":[{"name":"h","kind":"Job","path":"web/h.yaml","manifest":"kind: Job\nmetadata: {name: h}\nspec: {tag: ` + tag + `, token: ` + password + `}\n"}]`
	}
	a.put(t, shop{revision: 1, status: "superseded", record: record("a", "first-password", "")})
	a.put(t, shop{revision: 2, status: "superseded", record: record("b", "first-password", `,"n":1`)})
	a.put(t, shop{revision: 3, status: "deployed", record: record("b", "second-password", `,"n":1`)})
	a.put(t, shop{namespace: "prod", revision: 7, status: "deployed", record: record("b", "second-password", `,"n":1`)})
	type answer struct {
		From, To struct {
			Namespace, Name string
			Revision        int
		}
		Parts     []string
		Identical bool
		Values    []struct{ Path, Change string }
		Manifest  []struct{ Change, Kind, Name, Diff string }
		Hooks     []struct{ Change, Kind, Name, Diff string }
		Notes     string
	}
	get := func(query string) answer {
		var diff answer
		r := a.do(http.MethodGet, shopURL+"/web/diff"+query, "")
		r.decode(http.StatusOK, &diff)
		if strings.Contains(r.body, "-password") {
			t.Errorf("the difference shows a secret: %s", r.body)
		}
		return diff
	}
	paths := func(d answer) (list []string) {
		for _, v := range d.Values {
			list = append(list, v.Change+" "+v.Path)
		}
		return list
	}
	d := get("?from=1&to=2")
	if diff := cmp.Diff([]string{"added n", "changed tag"}, paths(d)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if len(d.Manifest) != 1 || d.Manifest[0].Name != "a" || !strings.Contains(d.Manifest[0].Diff, "-  tag: a\n+  tag: b\n") || !strings.Contains(d.Notes, "-tag a\n") {
		t.Errorf("difference is %+v", d)
	}
	if len(d.Hooks) != 1 || d.Hooks[0].Kind != "Job" || d.Hooks[0].Name != "h" || d.Hooks[0].Change != "changed" || !strings.Contains(d.Hooks[0].Diff, "-  tag: a\n+  tag: b\n") {
		t.Errorf("hooks differ by %+v", d.Hooks)
	}
	if d := get("?from=2&to=3&part=hooks"); len(d.Hooks) != 1 || d.Identical || !strings.Contains(d.Hooks[0].Diff, "-  token: «masked:") || d.Manifest == nil || len(d.Manifest) > 0 {
		t.Errorf("with part=hooks the difference is %+v", d)
	}
	if d := get(""); d.From.Revision != 2 || d.To.Revision != 3 || cmp.Diff([]string{"changed db.password"}, paths(d)) != "" {
		t.Errorf("by default the difference is %+v", d)
	}
	if d := get("?from=2&to=3&part=manifest,notes"); !d.Identical || cmp.Diff([]string{"manifest", "notes"}, d.Parts) != "" {
		t.Errorf("with manifest and notes the difference is %+v", d)
	}
	// Mask tokens of two releases cannot be compared.
	if d := get("?fromNamespace=prod"); d.From.Namespace != "prod" || d.From.Revision != 7 || d.To.Revision != 3 || cmp.Diff([]string{"changed db.password"}, paths(d)) != "" {
		t.Errorf("across namespaces the difference is %+v", d)
	}
	a.do(http.MethodGet, shopURL+"/web/diff?part=weather", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/diff?from=x", "").wantError(http.StatusBadRequest, "bad_request")
	a.do(http.MethodGet, shopURL+"/web/diff?from=1&to=99", "").wantError(http.StatusNotFound, "not_found")
}

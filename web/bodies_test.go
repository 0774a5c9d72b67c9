package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web"
)

func TestBodiesAreReadStrictly(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		name, body  string
		status      int
		code, field string
	}{
		{"unknown field", `{"name":"a","chart":{"ref":"x"},"colour":"red"}`, 400, "unknown_field", "colour"},
		{"unknown field of the chart", `{"name":"a","chart":{"ref":"x","digest":"y"}}`, 400, "unknown_field", "chart.digest"},
		{"unknown option", `{"name":"a","chart":{"ref":"x"},"options":{"atomic":true}}`, 400, "unknown_field", "options.atomic"},
		{"wrong case", `{"name":"a","chart":{"ref":"x"},"Options":{}}`, 400, "unknown_field", "Options"},
		{"wrong type", `{"name":"a","chart":{"ref":"x"},"options":{"noHooks":"hunter2"}}`, 400, "bad_request", "options.noHooks"},
		{"neither a word nor true", `{"name":"a","chart":{"ref":"x"},"options":{"wait":["hunter2"]}}`, 400, "bad_request", "options.wait"},
		{"fraction of a second", `{"name":"a","chart":{"ref":"x"},"options":{"timeoutSeconds":1.5}}`, 400, "bad_request", "options.timeoutSeconds"},
		{"values are not an object", `{"name":"a","chart":{"ref":"x"},"values":["hunter2"]}`, 400, "bad_request", "values"},
		{"values are not YAML", `{"name":"a","chart":{"ref":"x"},"valuesYAML":"a: 1\nb: [hunter2"}`, 400, "bad_request", "valuesYAML"},
		{"values are not a mapping", `{"name":"a","chart":{"ref":"x"},"valuesYAML":"hunter2"}`, 400, "bad_request", "valuesYAML"},
		{"not JSON", `{"name":`, 400, "bad_request", ""},
		{"nothing", ``, 400, "bad_request", ""},
		{"null", `null`, 400, "bad_request", ""},
		{"an array", `[]`, 400, "bad_request", ""},
		{"two objects", `{"name":"a"}{"name":"b"}`, 400, "bad_request", ""},
		{"too large", `{"name":"` + strings.Repeat("a", 4<<20) + `"}`, 413, "too_large", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := f.do(http.MethodPost, shopURL, c.body)
			_, details := r.wantError(c.status, c.code)
			if got, _ := details["field"].(string); got != c.field {
				t.Errorf("field %q, want %q", got, c.field)
			}
			if strings.Contains(r.body, "hunter2") {
				t.Errorf("the error quotes a value: %s", r.body)
			}
		})
	}
}

func TestBodyIsJSONWhateverItsContentType(t *testing.T) {
	f := newFixture(t)
	r := f.do(http.MethodPost, shopURL, `{"name":"web","chart":{"ref":"web"}}`, "Content-Type", "application/x-www-form-urlencoded")
	if r.status != http.StatusAccepted {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

func TestUninstallTakesItsOptionsFromTheQuery(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ query, code, field string }{
		{"keepHistroy=true", "unknown_field", "keepHistroy"},
		{"keepHistory=yes", "bad_request", "keepHistory"},
		{"keepHistory", "bad_request", "keepHistory"},
		{"timeoutSeconds=5m", "bad_request", "timeoutSeconds"},
		{"wait=true&wait=false", "bad_request", "wait"},
		{"labels=a", "bad_request", "labels"},
		{"a=%zz", "bad_request", ""},
	} {
		_, details := f.do(http.MethodDelete, shopURL+"/web?"+c.query, "").wantError(http.StatusBadRequest, c.code)
		if got, _ := details["field"].(string); got != c.field {
			t.Errorf("%s: field %q, want %q", c.query, got, c.field)
		}
	}
	var accepted struct{ SessionID string }
	f.do(http.MethodDelete, shopURL+"/web?keepHistory=true&timeoutSeconds=20&description=bye&historyMax=3&wait=true&cascade=orphan", "").decode(http.StatusAccepted, &accepted)
	three := 3
	want := helmtrail.Request{
		Operation: helmtrail.OperationUninstall,
		Release:   helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"},
		Options:   helmtrail.Options{KeepHistory: true, TimeoutSeconds: 20, Description: "bye", HistoryMax: &three, Wait: helmtrail.ChoiceTrue, Cascade: "orphan"},
	}
	if diff := cmp.Diff(want, f.helm.process(accepted.SessionID).Request()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestValuesObjectIsLaidOverYAML(t *testing.T) {
	for _, c := range []struct{ name, object, yaml, want string }{
		{"nothing", ``, ``, ``},
		{"null", `null`, ` `, ``},
		{"YAML alone stays as written", `{}`, "# mine\na: 010\nb: 1.10\n", "# mine\na: 010\nb: 1.10\n"},
		{"object alone keeps its digits", `{"n":12345678901234567890123,"v":1.10,"e":1e3}`, ``, `{"e":1e3,"n":12345678901234567890123,"v":1.10}`},
		{"mappings are merged", `{"a":{"b":2}}`, "a: {b: 1, c: 3}\nd: 4", `{"a":{"b":2,"c":3},"d":4}`},
		{"everything else replaces", `{"a":[3],"b":{"x":1}}`, "a: [1, 2]\nb: text", `{"a":[3],"b":{"x":1}}`},
		{"null removes a default", `{"a":null}`, "a: 1", `{"a":null}`},
		{"integers beyond a float", `{"x":1}`, "id: 9007199254740993", `{"id":9007199254740993,"x":1}`},
		{"comments alone", `{"x":1}`, "# nothing", `{"x":1}`},
		{"anchors", `{"x":1}`, "a: &k {b: 1}\nc: *k", `{"a":{"b":1},"c":{"b":1},"x":1}`},
		{"escapes that YAML does not have", `{"a":"\ud83d\ude00\u007f\u0085<>"}`, ``, "{\"a\":\"😀\\u007f\\u0085<>\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := web.MergeValues([]byte(c.object), c.yaml)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChoicesMayBeWordsOrBooleans(t *testing.T) {
	f := newFixture(t)
	for body, want := range map[string]helmtrail.Options{
		`{"wait":true,"serverSide":false}`:                      {Wait: helmtrail.ChoiceTrue, ServerSide: helmtrail.ChoiceFalse},
		`{"wait":"true","serverSide":"auto","dryRun":"client"}`: {Wait: helmtrail.ChoiceTrue, ServerSide: helmtrail.ChoiceAuto, DryRun: helmtrail.DryRunClient},
		`{"wait":"legacy","serverSide":"false"}`:                {Wait: helmtrail.WaitLegacy, ServerSide: helmtrail.ChoiceFalse},
	} {
		var accepted struct{ SessionID string }
		f.do(http.MethodPost, shopURL, `{"name":"`+fmt.Sprintf("r%d", len(body))+`","chart":{"ref":"x"},"options":`+body+`}`).decode(http.StatusAccepted, &accepted)
		if diff := cmp.Diff(want, f.helm.process(accepted.SessionID).Request().Options); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

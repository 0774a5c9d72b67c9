package docs_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/health"
)

const eventsPage = "events.md"

// eventSections returns the sections of events.md that describe event types,
// by type. A heading may name several types that share a body.
func eventSections(t *testing.T) map[string]section {
	t.Helper()
	found := map[string]section{}
	for _, s := range sections(t, eventsPage) {
		for name := range strings.SplitSeq(s.title, ", ") {
			if name == strings.ToUpper(name) && name != "" {
				found[name] = s
			}
		}
	}
	return found
}

func TestEventsPageHasExactlyTheEventTypes(t *testing.T) {
	var want, got []string
	for _, kind := range helmtrail.Types {
		want = append(want, string(kind))
	}
	described := slices.Sorted(maps.Keys(description(t).Components.Schemas["Event"].Value.Discriminator.Mapping))
	for name := range eventSections(t) {
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event types (-code +%s):\n%s", eventsPage, diff)
	}
	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("event types (-code +openapi.yaml):\n%s", diff)
	}
}

func TestEventsPageHasTheFieldsOfEveryEvent(t *testing.T) {
	for name, s := range eventSections(t) {
		var event helmtrail.Event
		if err := json.Unmarshal([]byte(`{"type":"`+name+`","time":"2026-11-30T16:01:02.345Z"}`), &event); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want []string
		switch body := reflect.TypeOf(event.Body); {
		case body == nil: // RESET has the common fields only.
		case body.Kind() != reflect.Pointer:
			t.Errorf("%s is decoded as an unknown type", name)
			continue
		default:
			want = jsonFields(body.Elem())
		}
		compareFields(t, name, want, s)
	}
	page := sections(t, eventsPage)
	compareFields(t, "row", jsonFields(reflect.TypeFor[health.Resource]()), find(t, page, "Rows"))
	compareFields(t, "cause", jsonFields(reflect.TypeFor[health.Cause]()), find(t, page, "Causes"))
	compareFields(t, "event", []string{"seq", "type", "time", "sessionId", "elapsedSeconds"}, find(t, page, "Common fields"))
	if diff := cmp.Diff(sorted(jsonFields(reflect.TypeFor[health.Summary]())),
		sorted(find(t, page, "RESOURCE_STATUS").tables[1].column(0))); diff != "" {
		t.Errorf("fields of summary (-code +%s):\n%s", eventsPage, diff)
	}
}

// The tables of closed sets have exactly the values that openapi.yaml allows.
func TestEventsPageHasTheWords(t *testing.T) {
	for heading, schema := range map[string]string{"phase": "Phase", "change": "Change"} {
		var want, got []string
		for _, word := range description(t).Components.Schemas[schema].Value.Enum {
			want = append(want, word.(string))
		}
		for _, s := range sections(t, eventsPage) {
			for _, found := range s.tables {
				if found.header[0] == "`"+heading+"`" {
					got = append(got, found.column(0)...)
				}
			}
		}
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("%s (-openapi.yaml +%s):\n%s", heading, eventsPage, diff)
		}
	}
}

// compareFields compares the fields of a body with the first column of the
// section's first table.
func compareFields(t *testing.T, name string, want []string, s section) {
	t.Helper()
	var got []string
	if len(s.tables) > 0 {
		got = s.tables[0].column(0)
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("fields of %s (-code +%s):\n%s", name, eventsPage, diff)
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// jsonFields returns the names that a struct's fields have in JSON.
func jsonFields(of reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		names = append(names, name)
	}
	return names
}

func description(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

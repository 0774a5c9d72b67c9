package web

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/compare"
	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/docs"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/internal/reserved"
	"github.com/helmtrail/helmtrail/web/console"
	"github.com/helmtrail/helmtrail/web/history"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

func loadOpenAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// describedPath returns a route's path as openapi.yaml has it.
func describedPath(route string) string {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if part != "" && (part[0] == ':' || part[0] == '*') {
			parts[i] = "{" + part[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

func TestOpenAPIHasExactlyTheRoutes(t *testing.T) {
	var described, served []string
	for path, item := range loadOpenAPI(t).Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	var s Server
	for _, r := range s.newEngine().Routes() {
		served = append(served, r.Method+" "+describedPath(r.Path))
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

// The console's contract checks permissions itself, and ignores unknown parameters.
// The matrix of cmd/helmtrail tests its permissions.
func TestOpenAPINamesThePermissionsAndParameters(t *testing.T) {
	doc := loadOpenAPI(t)
	var s Server
	for _, r := range s.routes() {
		path := describedPath(r.path)
		if strings.HasPrefix(path, console.Path) {
			continue
		}
		item := doc.Paths.Value(path)
		operation := item.GetOperation(r.method)
		var want []any
		switch r.need {
		case authz.Nothing:
			want = []any{}
		case authz.Charts:
			want = []any{string(authz.KnownUser)}
		default:
			want = []any{string(r.need)}
		}
		if diff := cmp.Diff(want, operation.Extensions["x-permissions"]); diff != "" {
			t.Errorf("x-permissions of %s %s (-routes +openapi.yaml):\n%s", r.method, path, diff)
		}
		if slices.Equal(r.query, anyQuery) {
			continue
		}
		var described []string
		for _, p := range slices.Concat(item.Parameters, operation.Parameters) {
			if p.Value.In == openapi3.ParameterInQuery {
				described = append(described, p.Value.Name)
			}
		}
		if diff := cmp.Diff(r.query, described); diff != "" {
			t.Errorf("parameters of %s %s (-routes +openapi.yaml):\n%s", r.method, path, diff)
		}
	}
}

// TestReservedSegmentsAreThoseOfTheRoutes checks that no cluster's id can hide a route.
// "assets" is reserved for the files of the pages.
func TestReservedSegmentsAreThoseOfTheRoutes(t *testing.T) {
	segments := map[string]bool{"assets": true}
	var s Server
	for _, r := range s.newEngine().Routes() {
		if first := strings.Split(r.Path, "/")[1]; first != "" && first[0] != ':' {
			segments[first] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(segments)), slices.Sorted(slices.Values(reserved.Segments))); diff != "" {
		t.Errorf("first segments (-routes +reserved):\n%s", diff)
	}
}

func TestOpenAPIHasTheErrorCodes(t *testing.T) {
	var described []httpapi.Code
	for _, code := range loadOpenAPI(t).Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		described = append(described, httpapi.Code(code.(string)))
	}
	served := slices.Sorted(slices.Values(httpapi.Codes))
	slices.Sort(described)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("codes (-served +described):\n%s", diff)
	}
}

func TestOpenAPIHasTheProblems(t *testing.T) { hasValues(t, "Problem", health.Problems) }

func TestOpenAPIHasTheStates(t *testing.T) { hasValues(t, "State", health.States) }

func TestOpenAPIHasTheVerdictsOfHelm(t *testing.T) { hasValues(t, "HelmVerdict", health.HelmVerdicts) }

// hasValues compares the values of a schema with those of its Go type.
func hasValues[T ~string](t *testing.T, schema string, want []T) {
	t.Helper()
	var described []T
	for _, value := range loadOpenAPI(t).Components.Schemas[schema].Value.Enum {
		described = append(described, T(value.(string)))
	}
	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("%s (-Go +openapi.yaml):\n%s", schema, diff)
	}
}

// common has the fields of every stored event besides those of its body.
type common struct {
	Seq            uint64    `json:"seq"`
	Type           string    `json:"type"`
	Time           time.Time `json:"time"`
	SessionID      string    `json:"sessionId"`
	ElapsedSeconds float64   `json:"elapsedSeconds"`
}

// fleeting has the fields of events that are not stored.
type fleeting struct {
	Type           string    `json:"type"`
	Time           time.Time `json:"time"`
	SessionID      string    `json:"sessionId"`
	ElapsedSeconds float64   `json:"elapsedSeconds"`
}

func TestOpenAPISchemasAreTheGoStructs(t *testing.T) {
	schemas := loadOpenAPI(t).Components.Schemas
	for name, parts := range map[string][]any{
		"StartedEvent":        {common{}, helmtrail.Started{}},
		"LogEvent":            {common{}, helmtrail.LogLine{}},
		"HeartbeatEvent":      {fleeting{}, helmtrail.Heartbeat{}},
		"ReleaseStatusEvent":  {common{}, helmtrail.ReleaseStatus{}},
		"ResourceStatusEvent": {common{}, helmtrail.ResourceStatus{}},
		"RetryingEvent":       {common{}, helmtrail.Retrying{}},
		"ResetEvent":          {fleeting{}},
		"EndEvent":            {common{}, helmtrail.End{}},
		"End":                 {helmtrail.End{}},
		"Exit":                {helmtrail.Exit{}},
		"RevisionStatus":      {helmtrail.RevisionStatus{}},
		"Resource":            {health.Resource{}},
		"HelmWait":            {health.HelmWait{}},
		"Summary":             {health.Summary{}},
		"Cause":               {health.Cause{}},
		"Sentence":            {health.Sentence{}},
		"ObjectRef":           {health.ObjectRef{}},
		"ReleaseRef":          {helmtrail.ReleaseRef{}},
		"SecretRef":           {decoder.SecretRef{}},
		"Session":             {helmtrail.Session{}},
		"SessionList":         {sessionList{}},
		"Release":             {releaseItem{}},
		"ReleaseList":         {releaseList{}},
		"ResourceList":        {resourceList{}},
		"HistoryItem":         {history.Item{}},
		"Anomaly":             {decoder.Anomaly{}},
		"HistoryList":         {history.List{}},
		"Lineage":             {history.Lineage{}},
		"TrailEntry":          {audit.Entry{}},
		"TrailState":          {audit.State{}},
		"TrailList":           {history.TrailPage{}},
		"RevisionMetadata":    {parts.RevisionMetadata{}},
		"RevisionChart":       {decoder.Chart{}},
		"Hook":                {parts.Hook{}},
		"RevisionRef":         {history.RevisionRef{}},
		"Diff":                {history.Comparison{}},
		"Drift":               {drift.Report{}},
		"DriftObject":         {drift.Object{}},
		"FieldChange":         {drift.FieldChange{}},
		"Validation":          {drift.Validation{}},
		"ValidatedObject":     {drift.ValidatedObject{}},
		"ValueChange":         {compare.Value{}},
		"ObjectChange":        {compare.Object{}},
		"Cluster":             {clusterItem{}},
		"ClusterList":         {clusterList{}},
		"Accepted":            {accepted{}},
		"Health":              {healthBody{}},
		"WhoAmI":              {whoAmI{}},
		"SignedIn":            {signedIn{}},
		"ChartList":           {chartList{}},
		"ChartItem":           {catalog.Item{}},
		"ChartVersion":        {catalog.ItemVersion{}},
		"ChartProblem":        {catalog.Problem{}},
		"ChartDetails":        {catalog.Details{}},

		"TransitionEvent":       {clusters.TransitionEvent{}},
		"ClusterResetEvent":     {clusters.ResetEvent{}},
		"ClusterHeartbeatEvent": {clusters.HeartbeatEvent{}},
	} {
		t.Run(name, func(t *testing.T) {
			if schemas[name] == nil {
				t.Fatal("openapi.yaml has no such schema")
			}
			want := map[string]string{}
			for _, part := range parts {
				maps.Copy(want, structFields(reflect.TypeOf(part)))
			}
			if name == "ChartDetails" {
				want["metadata"] = "required object" // raw JSON in Go, and never null
			}
			if diff := cmp.Diff(want, schemaFields(schemas[name].Value)); diff != "" {
				t.Errorf("fields (-Go +openapi.yaml):\n%s", diff)
			}
		})
	}
	// Fields of requests are optional unless marked as required.
	for name, body := range map[string]any{
		"Options": helmtrail.Options{}, "Chart": helmtrail.Chart{},
		"InstallRequest": installBody{}, "UpgradeRequest": upgradeBody{}, "RollbackRequest": rollbackBody{}, "LoginRequest": loginBody{},
	} {
		got := slices.Sorted(maps.Keys(schemaFields(schemas[name].Value)))
		want := slices.Sorted(maps.Keys(structFields(reflect.TypeOf(body))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: fields (-Go +openapi.yaml):\n%s", name, diff)
		}
	}
}

// TestOpenAPICoversEveryEventType encodes one event of each type and looks up its
// schema by the discriminator.
func TestOpenAPICoversEveryEventType(t *testing.T) {
	doc := loadOpenAPI(t)
	event := doc.Components.Schemas["Event"].Value
	bodies := map[helmtrail.Type]any{
		helmtrail.TypeStarted: &helmtrail.Started{}, helmtrail.TypeLog: &helmtrail.LogLine{}, helmtrail.TypeHeartbeat: &helmtrail.Heartbeat{},
		helmtrail.TypeReleaseStatus: &helmtrail.ReleaseStatus{}, helmtrail.TypeResourceStatus: &helmtrail.ResourceStatus{},
		helmtrail.TypeRetrying: &helmtrail.Retrying{}, helmtrail.TypeReset: nil,
		helmtrail.TypeCompleted: &helmtrail.End{}, helmtrail.TypeFailed: &helmtrail.End{}, helmtrail.TypeCanceled: &helmtrail.End{},
	}
	var types []string
	for kind, body := range bodies {
		types = append(types, string(kind))
		e := helmtrail.Event{Type: kind, SessionID: "s", Body: body}
		if kind != helmtrail.TypeHeartbeat && kind != helmtrail.TypeReset {
			e.Seq = 1
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]any
		if err := json.Unmarshal(data, &sent); err != nil {
			t.Fatal(err)
		}
		mapped := event.Discriminator.Mapping[string(kind)]
		schema := doc.Components.Schemas[strings.TrimPrefix(mapped.Ref, "#/components/schemas/")]
		if schema == nil {
			t.Errorf("%s has no schema", kind)
			continue
		}
		fields := schemaFields(schema.Value)
		for name, need := range fields {
			if _, ok := sent[name]; !ok && strings.HasPrefix(need, "required") {
				t.Errorf("%s lacks %s, which is required: %s", kind, name, data)
			}
		}
		for name := range sent {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s has %s, which is not described", kind, name)
			}
		}
	}
	described := slices.Sorted(maps.Keys(event.Discriminator.Mapping))
	slices.Sort(types)
	if diff := cmp.Diff(types, described); diff != "" {
		t.Errorf("types (-Go +openapi.yaml):\n%s", diff)
	}
}

// structFields returns, for each JSON field of a struct, whether it is always present
// and its type.
func structFields(t reflect.Type) map[string]string {
	fields := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		name, rules, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous && name == "" {
			continue
		}
		need, kind := "required ", f.Type
		if strings.Contains(rules, "omitempty") || strings.Contains(rules, "omitzero") {
			need = "optional "
			// A nil pointer is omitted, so the field is never null.
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
		}
		fields[name] = need + goKind(kind)
	}
	return fields
}

func goKind(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "string"
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return "object|null"
	}
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem() == reflect.TypeFor[struct{}]() {
			return "null"
		}
		return goKind(t.Elem()) + "|null"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	default:
		return "object"
	}
}

// schemaFields is structFields for a schema.
func schemaFields(s *openapi3.Schema) map[string]string {
	fields := map[string]string{}
	for _, part := range s.AllOf {
		maps.Copy(fields, schemaFields(part.Value))
	}
	for name, property := range s.Properties {
		need := "optional "
		if slices.Contains(s.Required, name) {
			need = "required "
		}
		fields[name] = need + schemaKind(property.Value)
	}
	return fields
}

func schemaKind(s *openapi3.Schema) string {
	var kinds []string
	if s.Type != nil {
		kinds = append(kinds, s.Type.Slice()...)
	}
	if len(kinds) == 6 {
		return "object|null" // any JSON: raw in Go
	}
	for _, part := range s.OneOf {
		kinds = append(kinds, schemaKind(part.Value))
	}
	return strings.Join(kinds, "|")
}

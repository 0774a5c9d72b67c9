package console

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// release is a release as Helm 4 encodes it
// (helm.sh/helm/v4/pkg/release/v1/release.go). Its parts are those of the
// record, byte for byte where Helm 3 writes the same.
type release struct {
	Name        string            `json:"name,omitempty"`
	Info        json.RawMessage   `json:"info,omitempty"`
	Chart       json.RawMessage   `json:"chart,omitempty"`
	Config      json.RawMessage   `json:"config,omitempty"`
	Manifest    json.RawMessage   `json:"manifest,omitempty"`
	Hooks       []json.RawMessage `json:"hooks,omitempty"`
	Version     int               `json:"version,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	ApplyMethod string            `json:"apply_method,omitempty"`
}

// newRelease returns the release in a record. Namespace and revision are those
// under which the record was found, whatever the record says.
func newRelease(record *decoder.Record, r *decoder.Revision) (*release, error) {
	shown := &release{}
	if err := json.Unmarshal(record.Raw, shown); err != nil {
		return nil, decoder.ErrNotRecord
	}
	shown.Name, shown.Namespace, shown.Version = r.Name, r.Namespace, r.Number
	shown.Info = withoutEmptyTimes(shown.Info)
	for i, hook := range shown.Hooks {
		shown.Hooks[i] = withHookTimes(hook)
	}
	return shown, nil
}

// brief returns the release with limitInfo: without the chart's contents, the
// values, the manifest and the hooks.
func (r *release) brief() *release {
	var chart struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(r.Chart, &chart) != nil || chart.Metadata == nil {
		chart.Metadata = json.RawMessage("{}")
	}
	return &release{Name: r.Name, Namespace: r.Namespace, Version: r.Version, Info: r.Info, Chart: httpapi.EncodeJSON(chart)}
}

// unreadableRelease replaces a release whose record cannot be read, so that no
// list omits it.
func unreadableRelease(r *decoder.Revision, problem string) *release {
	return &release{
		Name: r.Name, Namespace: r.Namespace, Version: r.Number,
		Info: httpapi.EncodeJSON(map[string]any{
			"first_deployed": r.Created.UTC(), "last_deployed": r.Created.UTC(), "status": r.Status(), "description": problem, "notes": "",
		}),
		Chart: json.RawMessage(`{"metadata":{"name":"","version":""}}`),
	}
}

// uninstalled returns the release in its state at the removal of its last revision.
func (r *release) uninstalled(at time.Time) *release {
	gone := *r
	gone.Info = withField(withField(withField(r.Info, "status", decoder.StatusUninstalled), "description", "Uninstallation complete"), "deleted", at.UTC())
	return &gone
}

// timeFields are "" in Helm 3's records if there is no time. Helm 4 omits them.
var timeFields = []string{"first_deployed", "last_deployed", "deleted", "started_at", "completed_at"}

// withoutEmptyTimes returns an object without the time fields that are "".
func withoutEmptyTimes(object json.RawMessage) json.RawMessage {
	if !bytes.Contains(object, []byte(`""`)) {
		return object
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil || fields == nil {
		return object
	}
	for _, name := range timeFields {
		if string(fields[name]) == `""` {
			delete(fields, name)
		}
	}
	return httpapi.EncodeJSON(fields)
}

// withHookTimes returns a hook whose last run has no empty time fields.
func withHookTimes(hook json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if !bytes.Contains(hook, []byte(`""`)) || json.Unmarshal(hook, &fields) != nil || fields["last_run"] == nil {
		return hook
	}
	fields["last_run"] = withoutEmptyTimes(fields["last_run"])
	return httpapi.EncodeJSON(fields)
}

func withField(object json.RawMessage, name string, value any) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return object
	}
	fields[name] = httpapi.EncodeJSON(value)
	return httpapi.EncodeJSON(fields)
}

// maxBriefs bounds the cached briefs, in bytes.
const maxBriefs = 32 << 20

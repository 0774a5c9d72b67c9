package web

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// consoleRelease is a release as Helm 4 encodes it
// (helm.sh/helm/v4/pkg/release/v1/release.go). Its parts are those of the
// record, byte for byte where Helm 3 writes the same.
type consoleRelease struct {
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

// newConsoleRelease shows a record. Namespace and revision are those by which
// the record is found, whatever it says itself.
func newConsoleRelease(record *decoder.Record, r *decoder.Revision) (*consoleRelease, error) {
	shown := &consoleRelease{}
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

// brief keeps what limitInfo keeps: all of it but the chart's contents, the
// values, the manifest and the hooks.
func (r *consoleRelease) brief() *consoleRelease {
	var chart struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(r.Chart, &chart) != nil || chart.Metadata == nil {
		chart.Metadata = json.RawMessage("{}")
	}
	return &consoleRelease{Name: r.Name, Namespace: r.Namespace, Version: r.Version, Info: r.Info, Chart: encodeJSON(chart)}
}

// unreadableRelease stands for a record that cannot be read, so that its
// release is not missing from a list.
func unreadableRelease(r *decoder.Revision, problem string) *consoleRelease {
	return &consoleRelease{
		Name: r.Name, Namespace: r.Namespace, Version: r.Number,
		Info: encodeJSON(map[string]any{
			"first_deployed": r.Created.UTC(), "last_deployed": r.Created.UTC(), "status": r.Status(), "description": problem, "notes": "",
		}),
		Chart: json.RawMessage(`{"metadata":{"name":"","version":""}}`),
	}
}

// uninstalled is the release as it was when its last revision was removed.
func (r *consoleRelease) uninstalled(at time.Time) *consoleRelease {
	gone := *r
	gone.Info = withField(withField(withField(r.Info, "status", decoder.StatusUninstalled), "description", "Uninstallation complete"), "deleted", at.UTC())
	return &gone
}

// timeFields are those that Helm 3 writes as "" when there is no time, and
// Helm 4 leaves out.
var timeFields = []string{"first_deployed", "last_deployed", "deleted", "started_at", "completed_at"}

// withoutEmptyTimes leaves out the times of an object that are none.
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
	return encodeJSON(fields)
}

// withHookTimes is a hook whose last run has no empty times.
func withHookTimes(hook json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if !bytes.Contains(hook, []byte(`""`)) || json.Unmarshal(hook, &fields) != nil || fields["last_run"] == nil {
		return hook
	}
	fields["last_run"] = withoutEmptyTimes(fields["last_run"])
	return encodeJSON(fields)
}

func withField(object json.RawMessage, name string, value any) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return object
	}
	fields[name] = encodeJSON(value)
	return encodeJSON(fields)
}

// maxBriefs bounds the briefs that are kept, in bytes.
const maxBriefs = 32 << 20

// briefs remembers encoded releases as lists show them, by the state of their
// Secrets. A state never changes, so nothing expires; when it is full it starts
// anew.
type briefs struct {
	mu    sync.Mutex
	kept  map[factsKey]json.RawMessage
	bytes int
}

func (b *briefs) get(key factsKey) (json.RawMessage, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, ok := b.kept[key]
	return kept, ok
}

func (b *briefs) put(key factsKey, brief json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil || b.bytes+len(brief) > maxBriefs {
		b.kept, b.bytes = map[factsKey]json.RawMessage{}, 0
	}
	if _, ok := b.kept[key]; !ok {
		b.kept[key] = brief
		b.bytes += len(brief)
	}
}

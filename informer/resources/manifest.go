package resources

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	yamldocuments "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
	"github.com/helmtrail/helmtrail/drift"
)

// object is one object that a record names.
type object struct {
	gvk       schema.GroupVersionKind
	namespace string // as the manifest has it, else the release's
	name      string
	// hook lists the hook's events, "" for an object of the manifest itself.
	hook string
	// phase is the phase of a hook's last run in the record, "" if it has not run.
	phase release.HookPhase
	// problem says why the object cannot be looked up, "" if it can.
	problem string
	// code is the problem's, "" without one.
	code drift.NoteCode
	// expires means that the cluster removes the object some time after it has
	// ended (ttlSecondsAfterFinished).
	expires bool
	// content is the object as JSON; nil if only its name is needed.
	content []byte
}

// Named is one object that a manifest names.
type Named struct {
	schema.GroupVersionKind
	// Namespace is the manifest's, else the release's. Cluster-scoped objects have
	// one too.
	Namespace, Name string
	// Problem says why the object cannot be looked up, "" if it can.
	Problem string
	// Code is the problem's, "" without one.
	Code drift.NoteCode
	// Expires means that the cluster removes the object some time after it has
	// ended (ttlSecondsAfterFinished).
	Expires bool
	// Content is the object as JSON, nil if it could not be read.
	Content []byte
}

// Read returns the objects of a manifest in its order, with the items of lists one
// by one. Objects without a namespace get the given one.
func Read(manifest, namespace string) []Named {
	parsed := parse(manifest, namespace, "")
	named := make([]Named, 0, len(parsed))
	for _, o := range parsed {
		named = append(named, Named{o.gvk, o.namespace, o.name, o.problem, o.code, o.expires, o.content})
	}
	return named
}

// header is the part of a manifest's document that is needed.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
		Namespace    string `json:"namespace"`
	} `json:"metadata"`
	Spec  json.RawMessage   `json:"spec"`
	Items []json.RawMessage `json:"items"`
}

// expires reports whether the object has a ttlSecondsAfterFinished.
func (h *header) expires() bool {
	var spec struct {
		TTL *int32 `json:"ttlSecondsAfterFinished"`
	}
	return schema.FromAPIVersionAndKind(h.APIVersion, h.Kind).GroupKind() == expiring && json.Unmarshal(h.Spec, &spec) == nil && spec.TTL != nil
}

// objects returns the objects that a record names: the manifest's in its order,
// then the hooks'. An object in both counts as the manifest's.
func objects(record *decoder.Record) []object {
	namespace := record.SecretNamespace
	if namespace == "" {
		namespace = record.Namespace
	}
	all := parse(record.Manifest, namespace, "")
	for _, hook := range record.Hooks {
		var events []string
		for _, event := range hook.Events {
			events = append(events, event.String())
		}
		parsed := parse(hook.Manifest, namespace, strings.Join(events, ", "))
		for i := range parsed {
			parsed[i].phase = phaseOf(hook)
		}
		all = append(all, parsed...)
	}
	type identity struct {
		kind            schema.GroupKind
		namespace, name string
	}
	seen := map[identity]bool{}
	unique := all[:0]
	for _, o := range all {
		id := identity{o.gvk.GroupKind(), o.namespace, o.name}
		o.content = nil
		if !seen[id] || o.problem != "" {
			unique = append(unique, o)
		}
		seen[id] = true
	}
	return unique
}

// phaseOf returns the phase of a hook's last run, "" if the record has none.
func phaseOf(hook decoder.Hook) release.HookPhase {
	var run struct {
		Phase release.HookPhase `json:"phase"`
	}
	if json.Unmarshal(hook.LastRun, &run) != nil {
		return ""
	}
	return run.Phase
}

// parse reads YAML documents. One that cannot be read becomes an object with a
// problem. Empty ones are skipped.
func parse(manifest, namespace, hook string) []object {
	var all []object
	documents := yamldocuments.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return append(all, unreadable(n, hook))
		}
		if !tree.FitsExpanded(string(document)) {
			all = append(all, unreadable(n, hook))
			continue
		}
		content, err := yaml.YAMLToJSON(document)
		if err != nil {
			all = append(all, unreadable(n, hook))
			continue
		}
		if bytes.Equal(content, []byte("null")) {
			continue
		}
		found, err := read(content, namespace, hook)
		if err != nil {
			found = append(found, unreadable(n, hook))
		}
		all = append(all, found...)
	}
}

// read reads one object, or the items of a list, from JSON.
func read(content []byte, namespace, hook string) ([]object, error) {
	var h header
	if err := json.Unmarshal(content, &h); err != nil {
		return nil, err
	}
	if h.Kind == "" && h.APIVersion == "" && h.Metadata.Name == "" {
		return nil, nil
	}
	if strings.HasSuffix(h.Kind, "List") && h.Metadata.Name == "" {
		var all []object
		for _, item := range h.Items {
			found, err := read(item, namespace, hook)
			all = append(all, found...)
			if err != nil {
				return all, err
			}
		}
		return all, nil
	}
	o := object{
		gvk: schema.FromAPIVersionAndKind(h.APIVersion, h.Kind), namespace: h.Metadata.Namespace, name: h.Metadata.Name, hook: hook,
		expires: h.expires(), content: content,
	}
	if o.namespace == "" {
		o.namespace = namespace
	}
	switch {
	case o.name == "" && h.Metadata.GenerateName != "":
		o.name, o.problem, o.code = h.Metadata.GenerateName+"*", "the API server chose its name", drift.NoteGeneratedName
	case o.name == "" || !canBeInPath(o.name) || !canBeInPath(o.namespace):
		o.problem, o.code = cannotBeRead, drift.NoteUnreadable
	}
	return []object{o}, nil
}

// canBeInPath reports whether an object with this name or namespace can be
// requested. Clients refuse others before they send anything.
func canBeInPath(name string) bool { return len(content.IsPathSegmentName(name)) == 0 }

const cannotBeRead = "this part of the manifest cannot be read"

// unreadable returns an object for a document that cannot be read. It does not
// include the error, which may quote secret content.
func unreadable(document int, hook string) object {
	return object{name: fmt.Sprintf("document %d", document), hook: hook, problem: cannotBeRead, code: drift.NoteUnreadable}
}

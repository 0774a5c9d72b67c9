package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// steps are the keys and positions that lead from an object to one of its fields.
type steps []any

// to returns the steps with one more.
func (s steps) to(step any) steps { return append(slices.Clone(s), step) }

// difference is a field that differs between two trees.
type difference struct {
	// path is the field's path for people.
	path string
	// from and to lead to it in either tree; the field may be missing there.
	from, to steps
	// onlyFrom and onlyTo mean that the other tree does not have the field.
	onlyFrom, onlyTo bool
}

// nothing stands for a missing field.
type nothing struct{}

// walker compares two trees of JSON values.
type walker struct{ found []difference }

// differences returns the differences of two trees in the order of their keys. Items
// of lists are matched by their key fields, or else by position. An empty value of
// from is equal to a missing one, as it mostly is for the API server.
func differences(from, to map[string]any) []difference {
	w := walker{}
	w.walk(from, to, difference{})
	return w.found
}

func (w *walker) walk(from, to any, at difference) {
	fromMap, fromIsMap := from.(map[string]any)
	toMap, toIsMap := to.(map[string]any)
	fromList, fromIsList := from.([]any)
	toList, toIsList := to.([]any)
	switch {
	case fromIsMap && (toIsMap || to == nothing{}), toIsMap && from == nothing{}:
		for _, key := range slices.Sorted(maps.Keys(union(fromMap, toMap))) {
			if key == "protocol" && toMap[key] == defaultProtocol && fromMap[key] == nil {
				continue
			}
			w.walk(get(fromMap, key), get(toMap, key), difference{path: tree.Join(at.path, key), from: at.from.to(key), to: at.to.to(key)})
		}
	case fromIsList && toIsList:
		w.lists(fromList, toList, at)
	case from == nothing{}:
		if !empty(to) {
			at.onlyTo = true
			w.found = append(w.found, at)
		}
	case to == nothing{}:
		if !empty(from) {
			at.onlyFrom = true
			w.found = append(w.found, at)
		}
	case !equality.Semantic.DeepEqual(number(from), number(to)):
		w.found = append(w.found, at)
	}
}

// lists compares lists. Items with key fields are matched by them, other objects by
// position. Lists of strings and numbers are compared as a whole.
func (w *walker) lists(from, to []any, at difference) {
	key := keyOf(from, to)
	if key == nil {
		if !slices.ContainsFunc(slices.Concat(from, to), isMap) {
			if !equality.Semantic.DeepEqual(numbers(from), numbers(to)) {
				w.found = append(w.found, at)
			}
			return
		}
		for i := range max(len(from), len(to)) {
			one := difference{path: tree.Item(at.path, i), from: at.from.to(i), to: at.to.to(i)}
			if i >= len(from) || i >= len(to) {
				one.onlyFrom = i >= len(to)
				w.found = append(w.found, one)
				continue
			}
			w.walk(from[i], to[i], one)
		}
		return
	}
	positions := map[string]int{}
	for i, item := range to {
		positions[key.of(item)] = i
	}
	for i, item := range from {
		name := key.of(item)
		one := difference{path: at.path + name, from: at.from.to(i), to: at.to.to(len(to))}
		j, exists := positions[name]
		delete(positions, name)
		if !exists {
			one.onlyFrom = true
			w.found = append(w.found, one)
			continue
		}
		one.to = at.to.to(j)
		w.walk(item, to[j], one)
	}
	for _, name := range slices.Sorted(maps.Keys(positions)) {
		w.found = append(w.found, difference{
			path: at.path + name, from: at.from.to(len(from)), to: at.to.to(positions[name]), onlyTo: true,
		})
	}
}

// defaultProtocol is the protocol of a port without one; it is part of a port's key.
const defaultProtocol = "TCP"

// itemKey lists the key fields of a list's items; the first one is required.
type itemKey []string

// itemKeys are the keys by which Kubernetes merges the lists of its own kinds.
var itemKeys = []itemKey{{"name"}, {"containerPort", "protocol"}, {"port", "protocol"}, {"mountPath"}, {"devicePath"}, {"ip"}, {"uid"}, {"topologyKey", "whenUnsatisfiable"}}

// keyOf returns the key fields of both lists' items, nil if they have none.
func keyOf(lists ...[]any) itemKey {
	for _, key := range itemKeys {
		fits, some := true, false
		for _, list := range lists {
			seen := map[string]bool{}
			for _, item := range list {
				object, ok := item.(map[string]any)
				name := key.of(item)
				fits = fits && ok && object[key[0]] != nil && !seen[name]
				seen[name], some = true, true
			}
		}
		if fits && some {
			return key
		}
	}
	return nil
}

// of returns the key of an item in the form that the API server uses.
func (k itemKey) of(item any) string {
	object, ok := item.(map[string]any)
	if !ok {
		return ""
	}
	var parts []string
	for _, field := range k {
		value, exists := object[field]
		if !exists && field == "protocol" {
			value, exists = defaultProtocol, true
		}
		if !exists {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s=%s", field, text))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func isMap(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

func get(object map[string]any, key string) any {
	if value := object[key]; value != nil {
		return value
	}
	return nothing{}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// empty reports whether a value is equivalent to a missing one.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// number makes 1 and 1.0 equal.
func number(value any) any {
	if whole, ok := value.(int64); ok {
		return float64(whole)
	}
	return value
}

func numbers(list []any) []any {
	all := make([]any, len(list))
	for i, item := range list {
		all[i] = number(item)
	}
	return all
}

// follow returns the field that the steps lead to as JSON, null if it is missing.
func (s steps) follow(object any) json.RawMessage {
	for _, step := range s {
		switch key := step.(type) {
		case string:
			mapping, _ := object.(map[string]any)
			object = mapping[key]
		case int:
			list, _ := object.([]any)
			if key >= len(list) {
				return json.RawMessage("null")
			}
			object = list[key]
		}
	}
	data, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

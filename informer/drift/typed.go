package drift

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// secretKind is the kind whose content is masked.
var secretKind = schema.GroupKind{Kind: "Secret"}

// plain returns an object without the fields that are never drift: those written
// by the API server itself, and the annotations of Helm and kubectl.
func plain(object map[string]any) map[string]any {
	copied := runtime.DeepCopyJSON(object)
	for _, field := range [][]string{
		{"apiVersion"}, {"kind"}, {"status"},
		{"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"}, {"metadata", "deletionGracePeriodSeconds"}, {"metadata", "generateName"},
		{"metadata", "generation"}, {"metadata", "managedFields"}, {"metadata", "namespace"}, {"metadata", "resourceVersion"}, {"metadata", "selfLink"}, {"metadata", "uid"},
		{"metadata", "labels", managedBy}, {"metadata", "annotations", releaseName}, {"metadata", "annotations", releaseNamespace}, {"metadata", "annotations", lastApplied},
	} {
		unstructured.RemoveNestedField(copied, field...)
	}
	return copied
}

// canonical returns a manifest's object in the form that the API server would
// write, according to the Go types: quantities in their shortest form, a Secret's
// texts in base64. Like the API server, it drops fields that the types do not
// have. Objects without a Go type are returned unchanged.
func canonical(object map[string]any, kind schema.GroupVersionKind) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if kind.GroupKind() == secretKind {
		encodeTexts(object)
	}
	typed, err := scheme.Scheme.New(kind)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed) != nil {
		return object
	}
	written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return object
	}
	return restrict(object, written).(map[string]any)
}

// encodeTexts moves stringData into data, as the API server does.
func encodeTexts(secret map[string]any) {
	texts, _ := secret["stringData"].(map[string]any)
	if len(texts) == 0 {
		return
	}
	data, _ := secret["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
		secret["data"] = data
	}
	for key, value := range texts {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(secret, "stringData")
}

// restrict returns the fields that the manifest has, with the written values: Go
// types also write fields that were not given.
func restrict(given, written any) any {
	switch g := given.(type) {
	case map[string]any:
		w, ok := written.(map[string]any)
		if !ok {
			return written
		}
		kept := map[string]any{}
		for key, value := range g {
			if inner, exists := w[key]; exists {
				kept[key] = restrict(value, inner)
			}
		}
		return kept
	case []any:
		w, ok := written.([]any)
		if !ok || len(w) != len(g) {
			return written
		}
		kept := make([]any, len(g))
		for i := range g {
			kept[i] = restrict(g[i], w[i])
		}
		return kept
	}
	return written
}

package drift

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// plain is an object without what is no part of its drift: what the API server
// writes itself, and what Helm and kubectl note down for themselves.
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

// canonical is an object of a manifest as the API server would write it, as far
// as its Go types tell: quantities in their shortest form, a Secret's texts in
// base64. Fields that the types do not have, and which the API server therefore
// drops, are left out. Objects of other kinds stay as they are.
func canonical(object map[string]any, kind schema.GroupVersionKind) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if kind.Group == "" && kind.Kind == "Secret" {
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

// restrict returns the fields that the manifest has, with the values that were
// written for them: types write fields that nobody gave, too.
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

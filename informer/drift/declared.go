package drift

import (
	"context"
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// openAPI reads the fields of kinds without a Go type from the API server. Each
// document is read once. Every authenticated user may read it.
type openAPI struct {
	get func(ctx context.Context, path string) ([]byte, error)

	mu        sync.Mutex // held while a document is read
	documents map[schema.GroupVersion]map[schema.GroupVersionKind]*declaration
}

// declaration is the part of a field's schema that decides which fields the API
// server drops
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning).
type declaration struct {
	Properties map[string]*declaration   `json:"properties"`
	Items      *declaration              `json:"items"`
	Additional json.RawMessage           `json:"additionalProperties"`
	Reference  string                    `json:"$ref"`
	AllOf      []json.RawMessage         `json:"allOf"`
	Kinds      []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	Preserve   bool                      `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded   bool                      `json:"x-kubernetes-embedded-resource"`
}

// declared returns an object without the fields that the API server drops because
// its kind does not have them. An object of a kind with a Go type, or without a
// readable schema, is returned unchanged.
func (o *openAPI) declared(ctx context.Context, object map[string]any, kind schema.GroupVersionKind) map[string]any {
	if o.get == nil || scheme.Scheme.Recognizes(kind) {
		return object
	}
	known := o.document(ctx, kind.GroupVersion())[kind]
	if known == nil {
		return object
	}
	kept := known.keep(object).(map[string]any)
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		if value, exists := object[field]; exists {
			kept[field] = value
		}
	}
	return kept
}

// document returns the declarations of a group version; none if they cannot be read.
func (o *openAPI) document(ctx context.Context, version schema.GroupVersion) map[schema.GroupVersionKind]*declaration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, read := o.documents[version]; read {
		return known
	}
	if o.documents == nil {
		o.documents = map[schema.GroupVersion]map[schema.GroupVersionKind]*declaration{}
	}
	var content struct {
		Components struct {
			Schemas map[string]*declaration `json:"schemas"`
		} `json:"components"`
	}
	kinds := map[schema.GroupVersionKind]*declaration{}
	data, err := o.get(ctx, "/openapi/v3/apis/"+version.String())
	if err == nil && json.Unmarshal(data, &content) == nil {
		for _, one := range content.Components.Schemas {
			for _, kind := range one.Kinds {
				kinds[kind] = one
			}
		}
	}
	o.documents[version] = kinds
	return kinds
}

// keep returns a value without the fields that are not declared.
func (d *declaration) keep(value any) any {
	if d == nil || d.Reference != "" || len(d.AllOf) > 0 || d.Embedded {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, inner := range v {
			field, declared := d.Properties[key]
			if declared || d.Preserve || len(d.Additional) > 0 {
				kept[key] = field.keep(inner)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, inner := range v {
			kept[i] = d.Items.keep(inner)
		}
		return kept
	}
	return value
}

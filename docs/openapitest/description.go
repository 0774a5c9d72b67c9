package openapitest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/helmtrail/helmtrail/docs"
)

// description is the OpenAPI document, made strict.
type description struct{ document *openapi3.T }

// loaded reads the document once for all tests, because that takes a while.
var loaded = sync.OnceValues(func() (*description, error) {
	document, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		return nil, err
	}
	d := &description{document}
	d.forbidUnknownFields()
	return d, nil
})

func load(t testing.TB) *description {
	t.Helper()
	d, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// forbidUnknownFields makes every object reject fields that its schema does not
// name. Parts of an allOf do not know each other's fields and stay open, like
// schemas without fields.
func (d *description) forbidUnknownFields() {
	open := map[*openapi3.Schema]bool{}
	var closed []*openapi3.Schema
	seen := map[*openapi3.Schema]bool{}
	var visit func(*openapi3.SchemaRef)
	visit = func(ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			return
		}
		s := ref.Value
		seen[s] = true
		if len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
			closed = append(closed, s)
		}
		for _, part := range s.AllOf {
			open[part.Value] = true
			visit(part)
		}
		for _, part := range s.OneOf {
			visit(part)
		}
		for _, property := range s.Properties {
			visit(property)
		}
		visit(s.Items)
	}
	for _, schema := range d.document.Components.Schemas {
		visit(schema)
	}
	for _, item := range d.document.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					visit(content.Schema)
				}
			}
		}
	}
	no := false
	for _, s := range closed {
		if !open[s] {
			s.AdditionalProperties.Has = &no
		}
	}
}

// response returns the description of a response. The default response is for
// errors only.
func (d *description) response(method, path string, status int) (*openapi3.Response, error) {
	item := d.item(path)
	if item == nil {
		return d.nowhere(path, status, http.StatusNotFound)
	}
	operation := item.Operations()[method]
	if operation == nil {
		return d.nowhere(path, status, http.StatusMethodNotAllowed)
	}
	described := operation.Responses.Value(strconv.Itoa(status))
	if described == nil && status >= http.StatusBadRequest {
		described = operation.Responses.Default()
	}
	if described == nil {
		return nil, errors.New("the status is not described")
	}
	return described.Value, nil
}

// nowhere returns the description of the error for a path that is not in the
// document. The status must be want, or 403 for a caller who may call nothing.
func (d *description) nowhere(path string, status, want int) (*openapi3.Response, error) {
	if status != want && status != http.StatusForbidden {
		return nil, fmt.Errorf("the address or method is not described, which should be answered with %d", want)
	}
	kind := "Error"
	if strings.HasPrefix(path, consolePath) {
		kind = "ConsoleError"
	}
	return d.document.Components.Responses[kind].Value, nil
}

// item returns a path's description. If several fit, it is the one with the
// longest literal beginning.
func (d *description) item(path string) *openapi3.PathItem {
	var best []string
	var found *openapi3.PathItem
	for template, item := range d.document.Paths.Map() {
		parts := strings.Split(template, "/")
		if fits(parts, strings.Split(path, "/")) && (found == nil || moreLiteral(parts, best)) {
			best, found = parts, item
		}
	}
	return found
}

// fits matches a path with a template. {x} is one segment that is not empty. A {ref} or
// {path} at the end is the whole rest, as the document says.
func fits(template, path []string) bool {
	for i, part := range template {
		switch {
		case i >= len(path):
			return false
		case i == len(template)-1 && (part == "{ref}" || part == "{path}"):
			return true
		case strings.HasPrefix(part, "{") && path[i] != "":
		case part != path[i]:
			return false
		}
	}
	return len(template) == len(path)
}

func moreLiteral(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if x, y := strings.HasPrefix(a[i], "{"), strings.HasPrefix(b[i], "{"); x != y {
			return y
		}
	}
	return false
}

// Package openapitest compares a server's responses with docs/openapi.yaml, so
// that every test that calls a server also tests the description.
package openapitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// consolePath is the prefix of routes whose errors have the form of the OpenShift
// console.
const consolePath = "/api/helm/"

// Transport returns next with a check of every response: a status, content type,
// header or field that is not in the description fails the test. Of a stream only
// status, type and headers are checked, and its events pass at once. Any other
// response is first read to its end. base is the server's base path, or "".
func Transport(t testing.TB, next http.RoundTripper, base string) http.RoundTripper {
	t.Helper()
	return &transport{t: t, next: next, base: base, description: load(t)}
}

type transport struct {
	t           testing.TB
	next        http.RoundTripper
	base        string
	description *description
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	var body []byte
	if !streams(response) {
		body, err = io.ReadAll(response.Body)
		if closeErr := response.Body.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	path := "/" + strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, t.base), "/")
	if err := t.description.check(request.Method, path, response, body); err != nil {
		t.t.Errorf("%s %s answered %d against the description: %v", request.Method, request.URL.Path, response.StatusCode, err)
	}
	return response, nil
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (t *transport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

func streams(r *http.Response) bool { return r.Header.Get("Content-Type") == "text/event-stream" }

// check returns how a response differs from its description.
func (d *description) check(method, path string, response *http.Response, body []byte) error {
	described, err := d.response(method, path, response.StatusCode)
	if err != nil {
		return err
	}
	for name, header := range described.Headers {
		if err := checkHeader(name, header.Value, response.Header); err != nil {
			return err
		}
	}
	if len(described.Content) == 0 || method == http.MethodHead {
		if len(body) > 0 {
			return fmt.Errorf("there should be no body: %.200s", body)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("the Content-Type %q: %w", response.Header.Get("Content-Type"), err)
	}
	content := described.Content[kind]
	if content == nil && described.Content["*/*"] == nil {
		return fmt.Errorf("the Content-Type %q is not described", kind)
	}
	if kind != "application/json" || content.Schema == nil {
		return nil
	}
	value, err := decode(body, response.Header.Get("Content-Encoding"))
	if err != nil {
		return err
	}
	return content.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
}

func checkHeader(name string, header *openapi3.Header, got http.Header) error {
	value := got.Get(name)
	switch {
	case value == "" && header.Required:
		return fmt.Errorf("the header %s is missing", name)
	case value != "" && header.Schema.Value.Type.Is(openapi3.TypeInteger):
		if _, err := strconv.Atoi(value); err != nil {
			return fmt.Errorf("the header %s is %q, and should be a number", name, value)
		}
	}
	return nil
}

// decode reads exactly one JSON value.
func decode(body []byte, encoding string) (value any, err error) {
	if encoding == "gzip" {
		inflating, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("inflate the body: %w", err)
		}
		if body, err = io.ReadAll(inflating); err != nil {
			return nil, fmt.Errorf("inflate the body: %w", err)
		}
	}
	if err := json.Unmarshal(body, &value); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w: %.200s", err, body)
	}
	return value, nil
}

// Package docs holds the documents that the server itself hands out.
package docs

import _ "embed"

// OpenAPI is the description of the HTTP API, as YAML. It must not be changed.
//
//go:embed openapi.yaml
var OpenAPI []byte

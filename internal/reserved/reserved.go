// Package reserved lists the URL segments that cannot be a cluster's id, because
// a cluster's id is the first segment of its URLs.
package reserved

import "slices"

// Segments are the first segments of helmtrail's own URLs. A test of package
// web compares them with its routes.
var Segments = []string{
	"api", "assets", "charts", "clusters", "healthz", "helm", "login", "logout", "me", "metrics", "openapi.yaml", "readyz",
}

// Contains reports whether a cluster of this id would hide other routes.
func Contains(id string) bool { return slices.Contains(Segments, id) }

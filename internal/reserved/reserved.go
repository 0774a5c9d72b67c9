// Package reserved lists the URL segments that no cluster may have as its id,
// since clusters are the first segment of their URLs.
package reserved

import "slices"

// Segments are the first segments of helmtrail's own URLs. A test of package
// web compares them with its routes.
var Segments = []string{
	"api", "assets", "charts", "clusters", "healthz", "helm", "login", "logout", "me", "metrics", "openapi.yaml", "readyz",
}

// Contains reports whether a cluster of this id would hide other routes.
func Contains(id string) bool { return slices.Contains(Segments, id) }

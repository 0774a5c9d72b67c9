package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// releasePath is what {release} stands for in the headings of api.md.
const releasePath = "/{cluster}/namespaces/{namespace}/releases/{name}"

// TestPagesHaveExactlyTheRoutes compares the headings of api.md and the table of
// console.md with openapi.yaml, which another test compares with the server.
func TestPagesHaveExactlyTheRoutes(t *testing.T) {
	var want, got []string
	for path, item := range description(t).Paths.Map() {
		for method := range item.Operations() {
			want = append(want, method+" "+path)
		}
	}
	for _, s := range sections(t, "api.md") {
		for title := range strings.SplitSeq(s.title, ", ") {
			if method, path, ok := strings.Cut(title, " "); ok && method == strings.ToUpper(method) {
				got = append(got, method+" "+strings.Replace(path, "{release}", releasePath, 1))
			}
		}
	}
	for _, cell := range find(t, sections(t, "console.md"), "Routes").tables[0].column(0) {
		method, path, _ := strings.Cut(cell, " `")
		got = append(got, method+" /api/helm"+path)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-openapi.yaml +api.md and console.md):\n%s", diff)
	}
}

// The error table of api.md has exactly the codes that openapi.yaml allows.
func TestAPIPageHasTheErrorCodes(t *testing.T) {
	var want []string
	for _, code := range description(t).Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		want = append(want, code.(string))
	}
	got := find(t, sections(t, "api.md"), "Errors").tables[0].column(1)
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("codes (-openapi.yaml +api.md):\n%s", diff)
	}
}

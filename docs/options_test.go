package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An uninstall has its options in the query. openapi.yaml has a parameter for
// each option that options.md, which is generated, names for an uninstall.
func TestUninstallHasItsOptionsInTheQuery(t *testing.T) {
	var want, got []string
	options := find(t, sections(t, "options.md"), "Options").tables[0]
	for i, field := range options.column(0) {
		operations := options.column(2)[i]
		if operations == "all" || strings.Contains(operations, "uninstall") {
			want = append(want, field)
		}
	}
	for _, parameter := range description(t).Paths.Value(releasePath).Delete.Parameters {
		got = append(got, parameter.Value.Name)
	}
	if diff := cmp.Diff(slices.Compact(sorted(want)), sorted(got)); diff != "" {
		t.Errorf("options of an uninstall (-options.md +openapi.yaml):\n%s", diff)
	}
}

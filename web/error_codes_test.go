package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// section returns the text of a file between two strings.
func section(t *testing.T, path, from, to string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), from)
	text, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		t.Fatalf("%s has no section from %q to %q", path, from, to)
	}
	return text
}

// TestErrorCodesAreTheSameEverywhere compares the documents and catalogues that
// list the codes. TestOpenAPIHasTheErrorCodes does the same for openapi.yaml.
func TestErrorCodesAreTheSameEverywhere(t *testing.T) {
	// The catalogues also contain other texts about problems.
	others := []string{"unreachable", "unreachableBody", "unreachableClusterBody", "stale", "retried"}
	want := slices.Sorted(slices.Values(httpapi.Codes))
	for _, list := range []struct{ path, from, to, pattern string }{
		{"../docs/api.md", "## Errors\n", "\n## ", "(?m)^\\| \\d{3} \\| `(\\w+)` \\|"},
		{"ui/src/i18n/en/common.ts", "\n  problem: {\n", "\n  },", `(?m)^    (\w+):`},
		{"ui/src/i18n/zh/common.ts", "\n  problem: {\n", "\n  },", `(?m)^    (\w+):`},
		{"ui/src/i18n/zh/server.ts", "\nconst errors: ", "\n};", `(?m)^  (\w+): \(`},
	} {
		var got []httpapi.Code
		for _, match := range regexp.MustCompile(list.pattern).FindAllStringSubmatch(section(t, list.path, list.from, list.to), -1) {
			if !slices.Contains(others, match[1]) {
				got = append(got, httpapi.Code(match[1]))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-codes +listed):\n%s", list.path, diff)
		}
	}
}

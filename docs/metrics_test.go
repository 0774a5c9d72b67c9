package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// metricName matches the name of a metric where the sources define it: in full,
// or as an argument of web's describe.
var metricName = regexp.MustCompile(`"helmtrail_([a-z_]+)"|\bdescribe\("([a-z_]+)"`)

// TestOperationsPageHasTheMetrics compares the table of operations.md with the
// metrics that the sources define.
func TestOperationsPageHasTheMetrics(t *testing.T) {
	want := map[string]bool{}
	for _, root := range []string{"../cmd/helmtrail", "../web", "../stream", "../informer"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			source, err := os.ReadFile(path)
			for _, match := range metricName.FindAllStringSubmatch(string(source), -1) {
				want[match[1]+match[2]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var names, got []string
	for name := range want {
		names = append(names, name)
	}
	for _, cell := range find(t, sections(t, "operations.md"), "Metrics and logs").tables[0].column(0) {
		for name := range strings.SplitSeq(cell, ", ") {
			got = append(got, strings.Trim(name, "`"))
		}
	}
	slices.Sort(names)
	slices.Sort(got)
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("metrics (-code +operations.md):\n%s", diff)
	}
}

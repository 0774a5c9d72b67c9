package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile("`(Test[A-Z][A-Za-z]*)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	filePath = regexp.MustCompile("`([a-z]+(?:/[A-Za-z_.]+)+)`")
)

// The recipes of CONTRIBUTING.md name tests and files that exist.
func TestNamesInContributingExist(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range testFunc.FindAllStringSubmatch(string(source), -1) {
			tests[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines(t, "../CONTRIBUTING.md") {
		for _, match := range testName.FindAllStringSubmatch(line, -1) {
			if !tests[match[1]] {
				t.Errorf("there is no test %s", match[1])
			}
		}
		for _, match := range filePath.FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join("..", match[1])); err != nil {
				t.Error(err)
			}
		}
	}
}

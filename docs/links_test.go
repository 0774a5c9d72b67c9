package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notInSlugs = regexp.MustCompile("[^a-z0-9 _-]")
)

// TestLinksResolve follows every link between the repository's pages: the file
// exists, and so does the heading that an anchor names.
func TestLinksResolve(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		for _, line := range lines(t, page) {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				checkLink(t, page, match[1])
			}
		}
	}
}

func checkLink(t *testing.T, page, target string) {
	t.Helper()
	if strings.Contains(target, "://") {
		return
	}
	path, anchor, _ := strings.Cut(target, "#")
	file := page
	if path != "" {
		file = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s links to %s: %v", page, target, err)
		return
	}
	if anchor != "" && !hasAnchor(t, file, anchor) {
		t.Errorf("%s links to %s, which has no such heading", page, target)
	}
}

// hasAnchor reports whether a page has a heading with that anchor, as GitHub
// makes it.
func hasAnchor(t *testing.T, page, anchor string) bool {
	t.Helper()
	for _, s := range sections(t, page) {
		slug := notInSlugs.ReplaceAllString(strings.ToLower(s.title), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

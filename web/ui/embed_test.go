package ui_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/web/ui"
)

// Whether the pages were built or not, there is an index.html. A reader gets the pages
// or instructions to build them, never an empty answer.
func TestFilesAlwaysHoldAnIndex(t *testing.T) {
	index, err := fs.ReadFile(ui.Files(), "index.html")
	if err != nil {
		t.Fatalf("read index.html: %v", err)
	}
	if !strings.Contains(string(index), "<title>helmtrail") {
		t.Errorf("index.html has no helmtrail title:\n%s", index)
	}
}

// The policy of the pages allows no inline scripts or styles.
func TestIndexHasNothingInline(t *testing.T) {
	index, err := fs.ReadFile(ui.Files(), "index.html")
	if err != nil {
		t.Fatalf("read index.html: %v", err)
	}
	for _, tag := range []string{"<script>", "<style", " style=", " onload=", "javascript:", "data:"} {
		if strings.Contains(string(index), tag) {
			t.Errorf("index.html contains %q:\n%s", tag, index)
		}
	}
}

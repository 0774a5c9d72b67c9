package ui_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/web/ui"
)

// Built or not, there is an index.html: a reader gets the pages or is told how
// to get them, never a blank answer.
func TestFilesAlwaysHoldAnIndex(t *testing.T) {
	index, err := fs.ReadFile(ui.Files(), "index.html")
	if err != nil {
		t.Fatalf("read index.html: %v", err)
	}
	if !strings.Contains(string(index), "<title>helmtrail") {
		t.Errorf("index.html has no helmtrail title:\n%s", index)
	}
}

// The pages run under a policy that allows no inline scripts and styles.
func TestIndexHoldsNothingInline(t *testing.T) {
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

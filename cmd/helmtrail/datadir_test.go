package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestAnExistingDataDirectoryIsClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, mode := range []os.FileMode{0, 0o755, 0o770, 0o700} {
		if mode != 0 {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := openDataDir(dir, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("a directory of mode %v has mode %v", mode, info.Mode().Perm())
		}
	}
}

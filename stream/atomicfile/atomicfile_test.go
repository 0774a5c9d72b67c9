package atomicfile_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteReplacesAndCreateDoesNot(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.json")
	for _, data := range []string{"first", "second"} {
		if err := atomicfile.Write(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != data {
			t.Errorf("the file holds %q, want %q", got, data)
		}
	}
	for _, name := range []string{"a.json", "b.json"} {
		created, err := atomicfile.Create(filepath.Join(folder, name), []byte("third"))
		if err != nil || created != (name == "b.json") {
			t.Errorf("%s: created is %v, %v", name, created, err)
		}
	}
	if got := content(t, path); got != "second" {
		t.Errorf("Create changed the file to %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	only(t, folder, "a.json", "b.json")
}

func TestADiscardedFileLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	f, err := atomicfile.New(folder, ".upload-*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "half"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, f.Path()); got != "half" {
		t.Errorf("the temporary file holds %q", got)
	}
	f.Discard()
	only(t, folder)
	if err := atomicfile.Write(filepath.Join(folder, "missing", "a"), nil); err == nil {
		t.Error("a file was written into a folder that does not exist")
	}
	if err := os.Mkdir(filepath.Join(folder, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(folder, "taken"), nil); err == nil {
		t.Error("a file took the place of a folder")
	}
	only(t, folder, "taken")
}

// only checks what a folder holds.
func only(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if i >= len(names) || e.Name() != names[i] {
			t.Errorf("the folder holds %q", e.Name())
		}
	}
	if len(entries) != len(names) {
		t.Errorf("the folder holds %d files, want %d", len(entries), len(names))
	}
}

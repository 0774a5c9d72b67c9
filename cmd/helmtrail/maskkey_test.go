package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheMaskKeyIsCreatedOnceAndPrivate(t *testing.T) {
	dir := t.TempDir()
	first, err := maskKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := maskKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) || bytes.Equal(first, make([]byte, maskKeyBytes)) {
		t.Errorf("keys are %x and %x", first, second)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("the folder holds %v, want only the key", files)
	}
	info, err := files[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v", info.Mode())
	}
	if err := os.WriteFile(filepath.Join(dir, "mask.key"), first[:5], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := maskKey(dir); err == nil {
		t.Error("a truncated key is accepted")
	}
}

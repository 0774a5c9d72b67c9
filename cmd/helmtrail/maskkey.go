package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

// maskKeyBytes is the length of the key for the fingerprints of masked secrets.
const maskKeyBytes = 32

// maskKey reads the key from the data directory, or creates it there at the first
// start. The key never changes, so that masks that were shown earlier can still
// be compared, and recognized when they come back.
func maskKey(dataDir string) ([]byte, error) {
	path := filepath.Join(dataDir, "mask.key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newMaskKey(dataDir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key for masked values: %w", err)
	}
	if len(key) != maskKeyBytes {
		return nil, fmt.Errorf("read the key for masked values: %s has %d bytes, not %d; remove it to get a new one", path, len(key), maskKeyBytes)
	}
	return key, nil
}

// newMaskKey writes a new key. If another process was faster, it returns that
// process's key.
func newMaskKey(dataDir, path string) ([]byte, error) {
	key := make([]byte, maskKeyBytes)
	rand.Read(key) // it never fails
	created, err := atomicfile.Create(path, key)
	if err != nil {
		return nil, fmt.Errorf("create the key for masked values: %w", err)
	}
	if !created {
		return os.ReadFile(path)
	}
	return key, nil
}

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maskKeyBytes is the length of the key that makes the fingerprints of masked
// secrets.
const maskKeyBytes = 32

// maskKey reads the key from the data directory, or makes it there at the
// first start, readable to the owner only. It stays the same, so that tokens
// that were shown once can be compared, and come back, later.
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

// newMaskKey writes a new key as a whole or not at all. If another process was
// faster, its key is the one.
func newMaskKey(dataDir, path string) (key []byte, err error) {
	key = make([]byte, maskKeyBytes)
	rand.Read(key) // it never fails
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the key for masked values: %w", err)
	}
	temporary, err := os.CreateTemp(dataDir, "mask.key.*")
	if err != nil {
		return nil, fmt.Errorf("make the key for masked values: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(temporary.Name())) }()
	if _, err := temporary.Write(key); err != nil {
		return nil, errors.Join(fmt.Errorf("make the key for masked values: %w", err), temporary.Close())
	}
	if err := errors.Join(temporary.Sync(), temporary.Close()); err != nil {
		return nil, fmt.Errorf("make the key for masked values: %w", err)
	}
	err = os.Link(temporary.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("make the key for masked values: %w", err)
	}
	return key, nil
}

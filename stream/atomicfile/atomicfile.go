// Package atomicfile writes files that are whole or not there: readers, and the
// next start after a power failure, never find half of one. Files are readable
// by their owner alone.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path.
func Write(path string, data []byte) error {
	f, err := New(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Replace(path)
}

// Create writes a file unless there is one at path already. It reports whether
// it did.
func Create(path string, data []byte) (created bool, err error) {
	f, err := New(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return false, err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return false, err
	}
	return f.Place(path)
}

// File is a file that has no name of its own yet. One of Replace, Place and
// Discard must be called; Discard after the others does nothing.
type File struct{ file *os.File }

// New opens a new file in a folder. The pattern is that of [os.CreateTemp]; a
// file that a crash leaves behind can be known by it.
func New(folder, pattern string) (*File, error) {
	file, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return nil, err
	}
	return &File{file}, nil
}

// Write implements io.Writer.
func (f *File) Write(data []byte) (int, error) { return f.file.Write(data) }

// Path returns the temporary path, at which the content can be read.
func (f *File) Path() string { return f.file.Name() }

// Replace puts the file at path, in place of any other.
func (f *File) Replace(path string) error {
	if err := f.sync(); err != nil {
		return err
	}
	return os.Rename(f.Path(), path)
}

// Place puts the file at path unless there is one already. It reports whether it
// did.
func (f *File) Place(path string) (placed bool, err error) {
	if err := f.sync(); err != nil {
		return false, err
	}
	err = os.Link(f.Path(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// Discard removes the temporary file.
func (f *File) Discard() {
	_ = f.file.Close()
	_ = os.Remove(f.Path())
}

// sync writes the content down to the disk and closes the file.
func (f *File) sync() error { return errors.Join(f.file.Sync(), f.file.Close()) }

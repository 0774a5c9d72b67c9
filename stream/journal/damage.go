package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Damage is a stored message that was damaged before the journal was opened.
type Damage struct {
	Stored
	// Stream is where the message belongs, Copy the file as it was.
	Stream, Copy string
}

// Damage tells what was found damaged when the journal was opened.
func (j *Journal) Damage() []Damage { return j.damage }

// preserve copies the files that hold damaged messages into the folder
// "damaged", each as often as another first damage is found in it. Of the
// guarded streams it reads all files, of the others those that NATS reads when
// it starts, which are the only ones that it may cut off then.
func preserve(folder string, guarded []string) ([]Damage, error) {
	streams, err := streamsIn(folder)
	if err != nil {
		return nil, err
	}
	var found []Damage
	for _, name := range streams {
		copied := map[string]string{}
		err := readBlocks(folder, name, slices.Contains(guarded, name), func(m Stored) error {
			if m.Problem == "" {
				return nil
			}
			m.Data = nil
			to := copied[m.File]
			if to == "" {
				to = filepath.Join(folder, "damaged", fmt.Sprintf("%s-%s-%d", name, filepath.Base(m.File), m.Offset))
				if err := copyFile(m.File, to); err != nil {
					return fmt.Errorf("preserve a damaged file of %s: %w", name, err)
				}
				copied[m.File] = to
			}
			found = append(found, Damage{Stored: m, Stream: name, Copy: to})
			return nil
		})
		if err != nil && !errors.Is(err, ErrNoStream) {
			return nil, err
		}
	}
	return found, nil
}

// streamsIn are the names of the streams in a journal's folder.
func streamsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(streamsFolder(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for the journal's streams: %w", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// copyFile copies a file unless the copy is there. It leaves nothing that is
// not whole, so that the next start does not take that for the copy.
func copyFile(from, to string) (err error) {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return os.Rename(out.Name(), to)
}

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

// Damage describes a stored message that was already damaged when the journal
// was opened.
type Damage struct {
	Stored
	// Stream is the message's stream. Copy is the copy of the damaged file.
	Stream, Copy string
}

// Damage returns the damage found when the journal was opened.
func (j *Journal) Damage() []Damage { return j.damage }

// preserve copies each file that holds a damaged message into the folder
// "damaged". It copies a file again when the first damage in it is a different
// one. It reads all files of the guarded streams. Of other streams it reads
// only the files that NATS reads at startup, because NATS can truncate only
// those.
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

// streamsIn returns the names of the streams in a journal's folder.
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

// copyFile copies a file unless the copy already exists. It never leaves a
// partial copy, so the next start cannot mistake one for a complete copy.
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

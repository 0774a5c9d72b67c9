package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Damage is a stored message that was damaged before the journal was opened.
type Damage struct {
	Stored
	// Stream is where the message belongs, Copy the file as it was.
	Stream, Copy string
}

// Damage tells what was found damaged in the guarded streams.
func (j *Journal) Damage() []Damage { return j.damage }

// preserve copies the files of these streams that hold damaged messages into
// the folder "damaged", each as often as another first damage is found in it.
func preserve(folder string, streams []string) ([]Damage, error) {
	var found []Damage
	for _, name := range streams {
		copied := map[string]string{}
		err := ReadFiles(folder, name, func(m Stored) error {
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

// copyFile copies a file unless the copy is there.
func copyFile(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

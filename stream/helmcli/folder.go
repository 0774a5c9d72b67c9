package helmcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// folder is a session's private folder. Package documentation lists its files.
type folder string

const (
	sessionFile    = "session.json"
	valuesFile     = "values.yaml"
	kubeconfigFile = "kubeconfig"
	runFile        = "run.json"
	launchFile     = "launch.json"
	lockFile       = "lock"
	spoolFile      = "spool"
	secretsFile    = "secrets.json"
	stopFile       = "stop.json"
	endFile        = "end.json"
	helmFile       = "helm.json"
	homeFolder     = "home"
	// workFolder is where helm runs. It is empty, since helm takes a chart from
	// a folder of its name before it asks a repository.
	workFolder = "work"
)

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// write makes a file that only its owner can read, whole or not at all.
func (f folder) write(name string, data []byte) error {
	temporary := f.path(name + ".new")
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(temporary, f.path(name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (f folder) writeJSON(name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.write(name, data)
}

// claim makes a file like writeJSON, but only if it does not exist. It tells
// whether it was made.
func (f folder) claim(name string, content any) (bool, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	temporary, err := os.CreateTemp(string(f), name+".*.new")
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	err = os.Link(temporary.Name(), f.path(name))
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	return true, nil
}

// readJSON reads a file that writeJSON made. The error of a file that does not
// exist matches os.ErrNotExist.
func (f folder) readJSON(name string, content any) error {
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(data, content); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

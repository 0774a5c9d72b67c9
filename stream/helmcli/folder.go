package helmcli

import (
	"encoding/json"
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
	stopFile       = "stop.json"
	endFile        = "end.json"
	homeFolder     = "home"
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

package helmcli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

// folder is a session's private folder. The package's documentation lists its
// files.
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
	// workFolder is where helm runs. It is empty, because helm prefers a folder
	// with the name of a chart to the repository.
	workFolder = "work"
)

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// write writes a file that only its owner can read, whole or not at all.
func (f folder) write(name string, data []byte) error {
	if err := atomicfile.Write(f.path(name), data); err != nil {
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

// claim is writeJSON for a file that does not exist yet. It reports whether it
// wrote the file.
func (f folder) claim(name string, content any) (bool, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	created, err := atomicfile.Create(f.path(name), data)
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	return created, nil
}

// readJSON reads a file that writeJSON wrote. The error of a file that does not
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

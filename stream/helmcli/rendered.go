package helmcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/helmtrail/helmtrail/stream"
)

// renderedFile is where helm's standard output goes when it only renders: one
// JSON object of any size, which is no log.
const renderedFile = "rendered.json"

// KeepRendered implements stream.Process. With --hide-secret helm leaves
// Secrets out by itself; what is known to be secret elsewhere is masked here.
func (p *Process) KeepRendered() (bool, error) {
	if !renders(p.request) {
		return false, nil
	}
	var printed struct {
		Manifest string `json:"manifest"`
		Hooks    []struct {
			Path     string `json:"path"`
			Manifest string `json:"manifest"`
		} `json:"hooks"`
	}
	data, err := os.ReadFile(p.folder.path(renderedFile))
	if err != nil {
		return false, fmt.Errorf("read what helm rendered: %w", err)
	}
	if err := json.Unmarshal(data, &printed); err != nil {
		return false, nil // helm failed before it had rendered anything
	}
	var all strings.Builder
	all.WriteString(printed.Manifest)
	for _, hook := range printed.Hooks {
		fmt.Fprintf(&all, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	secrets, err := readSecrets(p.folder)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(p.helm.config.Rendered, 0o700); err != nil {
		return false, fmt.Errorf("keep what helm rendered: %w", err)
	}
	kept := folder(p.helm.config.Rendered)
	return true, kept.write(p.session.ID+".yaml", []byte(secrets.Manifest(all.String())))
}

// Rendered implements stream.Helm.
func (h *Helm) Rendered(session string) ([]byte, error) {
	// An id names a file, so it must be one of ours.
	if _, err := uuid.Parse(session); err != nil {
		return nil, stream.ErrNotFound
	}
	data, err := os.ReadFile(filepath.Join(h.config.Rendered, session+".yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, stream.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read what session %s rendered: %w", session, err)
	}
	return data, nil
}

package helmcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// renderedFile receives helm's standard output when it only renders: one JSON
// object of any size, which does not belong in the log.
const renderedFile = "rendered.json"

// KeepRendered implements backend.Process. Helm's output contains Secrets in plain
// text and is removed with the session's folder. Their values are masked wherever
// they occur.
func (p *Process) KeepRendered() (bool, error) {
	if !renders(p.request) {
		return false, nil
	}
	var printed struct {
		Manifest string          `json:"manifest"`
		Hooks    []decoder.Hook  `json:"hooks"`
		Config   json.RawMessage `json:"config"`
		Chart    struct {
			Values json.RawMessage `json:"values"`
			Schema []byte          `json:"schema"`
		} `json:"chart"`
		Info struct {
			Notes string `json:"notes"`
		} `json:"info"`
	}
	data, err := os.ReadFile(p.folder.path(renderedFile))
	if err != nil {
		return false, fmt.Errorf("read the rendered manifest: %w", err)
	}
	if err := json.Unmarshal(data, &printed); err != nil {
		return false, nil // helm failed before it rendered anything
	}
	source := mask.Source{Values: []json.RawMessage{printed.Config, printed.Chart.Values}, Schema: printed.Chart.Schema, Manifests: []string{printed.Manifest}}
	for _, hook := range printed.Hooks {
		source.Manifests = append(source.Manifests, hook.Manifest)
	}
	secrets, err := readSecrets(p.folder, source)
	if err != nil {
		return false, err
	}
	kept := helmtrail.Rendering{Manifest: secrets.Manifest(printed.Manifest), Hooks: printed.Hooks, Notes: secrets.Text(printed.Info.Notes)}
	for i := range kept.Hooks {
		kept.Hooks[i].Manifest = secrets.Manifest(kept.Hooks[i].Manifest)
	}
	if err := os.MkdirAll(p.helm.config.Rendered, 0o700); err != nil {
		return false, fmt.Errorf("keep the rendered manifest: %w", err)
	}
	return true, folder(p.helm.config.Rendered).writeJSON(p.session.ID+".json", kept)
}

// Rendered implements stream.Helm.
func (h *Helm) Rendered(session string) (helmtrail.Rendering, error) {
	var kept helmtrail.Rendering
	// The id becomes a file name, so it must be well formed.
	if _, err := uuid.Parse(session); err != nil {
		return kept, helmtrail.ErrNotFound
	}
	err := folder(h.config.Rendered).readJSON(session+".json", &kept)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, helmtrail.ErrNotFound
	}
	if err != nil {
		return kept, fmt.Errorf("read the rendered manifest of session %s: %w", session, err)
	}
	return kept, nil
}

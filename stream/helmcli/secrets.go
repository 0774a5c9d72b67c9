package helmcli

import (
	"errors"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// secretsContent is what secrets.json holds: what helm's output, and all that
// the cluster says of the release, is masked by. The supervisor needs it as
// much as a later helmtrail does, so it stands in the folder.
type secretsContent struct {
	Key     []byte
	Release mask.Release
	Sources []mask.Source
}

// writeSecrets puts everything that may hold secrets of the session together.
func (p *Process) writeSecrets(launch stream.Launch) error {
	release := p.session.Release
	content := secretsContent{
		Key:     launch.MaskKey,
		Release: mask.Release{Cluster: release.Cluster, Namespace: release.Namespace, Name: release.Name},
	}
	values, err := os.ReadFile(p.folder.path(valuesFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	own := mask.Source{}
	if len(values) > 0 {
		// JSON can stand in JSON. Check has read the same text before.
		if values, err = yaml.YAMLToJSON(values); err != nil {
			return errors.New("the values are not YAML any more")
		}
		own.Values = append(own.Values, values)
	}
	if password := launch.ChartCredentials["password"]; len(password) > 0 {
		own.Strings = append(own.Strings, string(password))
	}
	content.Sources = append([]mask.Source{own}, launch.Known...)
	return p.folder.writeJSON(secretsFile, content)
}

// readSecrets is the masking of a session's folder. Without secrets.json, which
// is there before helm is run, what is secret by its looks is masked. further are
// sources that have come up since.
func readSecrets(f folder, further ...mask.Source) (*mask.Secrets, error) {
	var content secretsContent
	err := f.readJSON(secretsFile, &content)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return mask.New(content.Key, content.Release).Collect(append(content.Sources, further...)...), nil
}

// Mask implements stream.Process.
func (p *Process) Mask(text string) string {
	p.masking.Lock()
	defer p.masking.Unlock()
	if p.secrets == nil {
		secrets, err := readSecrets(p.folder)
		if err != nil {
			// What cannot be masked is not shown.
			p.helm.config.Logger.Error("a text cannot be masked", "session", p.session.ID, "error", err)
			return "«masked»"
		}
		p.secrets = secrets
	}
	return p.secrets.Text(text)
}

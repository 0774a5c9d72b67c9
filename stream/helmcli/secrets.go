package helmcli

import (
	"errors"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// secretsContent is the content of secrets.json: the secrets to mask in helm's
// output and in everything that the cluster reports about the release. Both the
// supervisor and a later helmtrail need it.
type secretsContent struct {
	Key     []byte
	Release mask.Release
	Sources []mask.Source
}

// writeSecrets writes secrets.json.
func (p *Process) writeSecrets(launch backend.Launch) error {
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
		// JSON can be embedded in JSON. Check parsed the same text before.
		if values, err = yaml.YAMLToJSON(values); err != nil {
			return errors.New("the values are not YAML")
		}
		own.Values = append(own.Values, values)
	}
	if password := launch.ChartCredentials["password"]; len(password) > 0 {
		own.Strings = append(own.Strings, string(password))
	}
	content.Sources = append([]mask.Source{own}, launch.Known...)
	return p.folder.writeJSON(secretsFile, content)
}

// readSecrets returns the secrets of a session's folder, and those of further
// sources. Before secrets.json is written, which is before helm is run, only what
// looks like a secret is masked.
func readSecrets(f folder, further ...mask.Source) (*mask.Secrets, error) {
	var content secretsContent
	err := f.readJSON(secretsFile, &content)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return mask.New(content.Key, content.Release).Collect(append(content.Sources, further...)...), nil
}

// Mask implements backend.Process. It also hides the server's paths.
func (p *Process) Mask(text string) string {
	p.masking.Lock()
	defer p.masking.Unlock()
	if p.secrets == nil {
		secrets, err := readSecrets(p.folder)
		if err != nil {
			// A text that cannot be masked is not shown.
			p.helm.config.Logger.Error("cannot mask a text", "session", p.session.ID, "error", err)
			return "«masked»"
		}
		p.secrets, p.paths = secrets, p.shownPaths()
	}
	return hidePaths(p.secrets.Text(text), p.paths)
}

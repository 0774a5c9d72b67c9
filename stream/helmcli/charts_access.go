package helmcli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
)

// Files in a session's folder that helm reads to fetch a chart. Helm takes user
// names and passwords from its configuration, so they appear neither in its
// command line nor in its environment.
const (
	repositoriesFile = homeFolder + "/config/repositories.yaml"
	registryFile     = homeFolder + "/config/registry/config.json"
	indexFolder      = homeFolder + "/cache/repository"
	caFile           = "ca.crt"
	certificateFile  = "tls.crt"
	keyFile          = "tls.key"
	archiveFile      = "chart.tgz"
	// privateRepository is helm's name for a repository with credentials.
	privateRepository = "private"
)

// credentials are what a chart's server requires.
type credentials struct {
	username, password string
	// authorities are CA certificates in PEM, nil for the system's.
	authorities []byte
	// certificate and key are a client certificate in PEM, nil for none.
	certificate, key []byte
}

// readCredentials reads the data of a Secret.
func readCredentials(secret map[string][]byte) (credentials, error) {
	c := credentials{
		username: string(secret["username"]), password: string(secret["password"]),
		authorities: secret["ca.crt"], certificate: secret["tls.crt"], key: secret["tls.key"],
	}
	switch {
	case (c.username == "") != (c.password == ""):
		return c, errors.New("has only one of username and password")
	case c.username == "" && c.authorities == nil && c.certificate == nil && c.key == nil:
		return c, errors.New("has neither username and password nor ca.crt nor tls.crt and tls.key")
	case c.authorities != nil && !x509.NewCertPool().AppendCertsFromPEM(c.authorities):
		return c, errors.New("has no certificate in ca.crt")
	}
	if c.certificate != nil || c.key != nil {
		if _, err := tls.X509KeyPair(c.certificate, c.key); err != nil {
			return c, errors.New("has no certificate in tls.crt with its key in tls.key")
		}
	}
	return c, nil
}

// accessFlags returns helm's flags for the certificates that writeAccess wrote.
func (f folder) accessFlags() (flags []string) {
	for _, file := range []struct{ flag, name string }{{"--ca-file=", caFile}, {"--cert-file=", certificateFile}, {"--key-file=", keyFile}} {
		if _, err := os.Stat(f.path(file.name)); err == nil {
			flags = append(flags, file.flag+f.path(file.name))
		}
	}
	return flags
}

// writeAccess writes what helm needs to fetch a request's chart to the session's
// folder. secret is the data of the Secret that the chart names. For a repository
// with credentials it also reads the index, because helm uses credentials only
// with an index that it has already (helm.sh/helm/v3/pkg/downloader). It blocks
// for as long as that takes. No error contains a credential.
func (h *Helm) writeAccess(ctx context.Context, f folder, chart helmtrail.Chart, secret map[string][]byte) error {
	if chart.CredentialsSecret == "" {
		return nil
	}
	c, err := readCredentials(secret)
	if err != nil {
		return fmt.Errorf("the Secret %s %w", chart.CredentialsSecret, err)
	}
	for name, content := range map[string][]byte{caFile: c.authorities, certificateFile: c.certificate, keyFile: c.key} {
		if content == nil {
			continue
		}
		if err := f.write(name, content); err != nil {
			return err
		}
	}
	if strings.HasPrefix(chart.Ref, "oci://") {
		return f.writeRegistry(chart.Ref, c)
	}
	address, index := chart.Ref, []byte(nil)
	if chart.Repo != "" {
		address = h.repositoryURL(chart.Repo)
		if index, err = fetchIndex(ctx, address, c); err != nil {
			return err
		}
	} else if index, err = indexOf(chart.Ref); err != nil {
		return err
	}
	return f.writeRepository(address, index, c)
}

// writeRegistry writes the login for the registry of an oci:// URL.
func (f folder) writeRegistry(ref string, c credentials) error {
	if c.username == "" {
		return nil
	}
	address, err := url.Parse(ref)
	if err != nil {
		return fmt.Errorf("read the chart's address: %w", err)
	}
	type login struct {
		Auth string `json:"auth"`
	}
	content, err := json.Marshal(map[string]map[string]login{"auths": {
		address.Host: {base64.StdEncoding.EncodeToString([]byte(c.username + ":" + c.password))},
	}})
	if err != nil {
		return fmt.Errorf("write the registry's login: %w", err)
	}
	return f.writeBelow(registryFile, content)
}

// writeRepository writes a repository's entry in helm's configuration, and its
// index.
func (f folder) writeRepository(address string, index []byte, c credentials) error {
	type entry struct {
		Name     string `json:"name"`
		URL      string `json:"url"`
		Username string `json:"username,omitempty"`
		Password string `json:"password,omitempty"`
		CAFile   string `json:"caFile,omitempty"`
		CertFile string `json:"certFile,omitempty"`
		KeyFile  string `json:"keyFile,omitempty"`
	}
	e := entry{Name: privateRepository, URL: address, Username: c.username, Password: c.password}
	if c.authorities != nil {
		e.CAFile = f.path(caFile)
	}
	if c.certificate != nil {
		e.CertFile, e.KeyFile = f.path(certificateFile), f.path(keyFile)
	}
	content, err := yaml.Marshal(map[string]any{"apiVersion": "", "repositories": []entry{e}})
	if err != nil {
		return fmt.Errorf("write the repository's login: %w", err)
	}
	if err := f.writeBelow(repositoriesFile, content); err != nil {
		return err
	}
	return f.writeBelow(indexFolder+"/"+privateRepository+"-index.yaml", index)
}

// indexOf returns the index of a repository with a single archive: helm uses a
// repository's credentials for the addresses in its index.
func indexOf(address string) ([]byte, error) {
	index, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"entries": map[string]any{"chart": []any{map[string]any{
			"apiVersion": "v2", "name": "chart", "version": "0.0.0", "urls": []string{address},
		}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write an index: %w", err)
	}
	return index, nil
}

// writeBelow is write for a file in a folder below f.
func (f folder) writeBelow(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.write(name, data)
}

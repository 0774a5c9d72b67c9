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

	"github.com/helmtrail/helmtrail/stream"
)

// Names in a session's folder of what helm reads to fetch a chart. Helm takes
// user names and passwords from its own configuration, so that they need stand
// neither in its command line nor in its environment.
const (
	repositoriesFile = homeFolder + "/config/repositories.yaml"
	registryFile     = homeFolder + "/config/registry/config.json"
	indexFolder      = homeFolder + "/cache/repository"
	caFile           = "ca.crt"
	certificateFile  = "tls.crt"
	keyFile          = "tls.key"
	archiveFile      = "chart.tgz"
	// privateRepository is what helm calls a repository with credentials.
	privateRepository = "private"
)

// credentials are how a chart's server lets helm in.
type credentials struct {
	username, password string
	// authorities are certificates in PEM, nil for the system's.
	authorities []byte
	// certificate and key are a client's own in PEM, nil for none.
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

// accessFlags tell helm of the certificates that writeAccess has put into a folder.
func (f folder) accessFlags() (flags []string) {
	for _, file := range []struct{ flag, name string }{{"--ca-file=", caFile}, {"--cert-file=", certificateFile}, {"--key-file=", keyFile}} {
		if _, err := os.Stat(f.path(file.name)); err == nil {
			flags = append(flags, file.flag+f.path(file.name))
		}
	}
	return flags
}

// writeAccess puts what helm needs to fetch a request's chart into the
// session's folder. secret is the data of the Secret that the chart names. It
// reads the index of a repository with credentials, since helm uses credentials
// with an index that is there already (helm.sh/helm/v3/pkg/downloader), and so
// blocks for as long as that takes. No error holds a credential.
func (h *Helm) writeAccess(ctx context.Context, f folder, chart stream.Chart, secret map[string][]byte) error {
	if chart.CredentialsSecret == "" {
		return nil
	}
	c, err := readCredentials(secret)
	if err != nil {
		return fmt.Errorf("Secret %s %w", chart.CredentialsSecret, err)
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

// writeRegistry logs helm in to the registry of an oci:// address.
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

// writeRepository makes a repository known to helm, with its index.
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

// indexOf is the index of a repository that holds the archive at one address
// and nothing else: helm uses a repository's credentials for the addresses that
// its index lists.
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

// writeBelow is write for a file in a folder of its own.
func (f folder) writeBelow(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.write(name, data)
}

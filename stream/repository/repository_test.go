package repository_test

import (
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/repository"
	"github.com/helmtrail/helmtrail/stream/repository/repositorytest"
)

// marker stands in what the servers of these tests send. No error may contain it.
const marker = "Z9-internal-answer"

const password = "S3cr3t-chart-password"

// clientFor returns a client for the entries of --chart-hosts.
func clientFor(t *testing.T, entries ...string) *repository.Client {
	t.Helper()
	hosts, err := repository.ParseHosts(entries)
	if err != nil {
		t.Fatal(err)
	}
	return repository.NewClient(hosts)
}

// seen is a server with what its clients need.
type seen struct{ *repositorytest.Server }

// port is the server's port.
func (s *seen) port() string {
	_, port, _ := net.SplitHostPort(s.Host())
	return port
}

func serve(t *testing.T, secure bool, handler http.HandlerFunc) *seen {
	t.Helper()
	return &seen{repositorytest.Serve(t, secure, handler)}
}

// login is the login for a server over TLS.
func (s *seen) login(t *testing.T) repository.Login {
	t.Helper()
	login, err := repository.ReadLogin(map[string][]byte{"username": []byte("reader"), "password": []byte(password), "ca.crt": s.authority()})
	if err != nil {
		t.Fatal(err)
	}
	return login
}

func (s *seen) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// fetch fetches a chart and returns the archive.
func fetch(t *testing.T, c *repository.Client, chart repository.Chart) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chart.tgz")
	err := c.Fetch(t.Context(), chart, file)
	if err != nil {
		if !errors.Is(err, helmtrail.ErrNoChart) || strings.Contains(err.Error(), marker) || strings.Contains(err.Error(), password) {
			t.Errorf("the error is %v", err)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) > 0 {
			t.Errorf("%d files are left after %v", len(left), err)
		}
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

// refused fails unless nothing was fetched and the error says why.
func refused(t *testing.T, c *repository.Client, chart repository.Chart, why string) {
	t.Helper()
	if data, err := fetch(t, c, chart); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s %s: got %q, %v, want an error with %q", chart.Repo, chart.Ref, data, err, why)
	}
}

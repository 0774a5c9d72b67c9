package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/pki"
)

// TestKept checks that a folder keeps one authority and one certificate for each name,
// and that a reopened authority can issue certificates for the same clients.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := open(t, dir)
	server := issue(t, first, "server", pki.Subject{CommonName: "server", Hosts: []string{"127.0.0.1", "localhost"}})
	before := read(t, server.CertFile)

	second := open(t, dir)
	if again := issue(t, second, "server", pki.Subject{CommonName: "server"}); again != server || read(t, again.CertFile) != before {
		t.Error("the second Open created a new certificate, want the existing one")
	}
	issue(t, second, "client", pki.Subject{CommonName: "someone", Organization: "system:masters"})

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(read(t, first.Own().CertFile))) {
		t.Fatal("the authority's certificate is not PEM")
	}
	for _, tt := range []struct {
		name, host string
		usage      x509.ExtKeyUsage
	}{
		{"server", "localhost", x509.ExtKeyUsageServerAuth},
		{"server", "127.0.0.1", x509.ExtKeyUsageServerAuth},
		{"server", "", x509.ExtKeyUsageClientAuth},
		{"client", "", x509.ExtKeyUsageClientAuth},
	} {
		leaf := load(t, dir, tt.name)
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: tt.host, KeyUsages: []x509.ExtKeyUsage{tt.usage}})
		if err != nil {
			t.Errorf("%s for host %q: %v", tt.name, tt.host, err)
		}
	}
	client := load(t, dir, "client")
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil {
		t.Error("a client's certificate is valid for a server")
	}
}

// TestPrivate checks that nobody else on the machine can read a key.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	key, err := open(t, dir).SigningKey("tokens")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, key, filepath.Join(dir, "ca.key")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want nothing for others", path, info.Mode())
		}
	}
}

func open(t *testing.T, dir string) *pki.Authority {
	t.Helper()
	authority, err := pki.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func issue(t *testing.T, authority *pki.Authority, name string, subject pki.Subject) pki.Identity {
	t.Helper()
	id, err := authority.Issue(name, subject)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// load returns the certificate stored under name. It fails the test if the key does not
// match.
func load(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

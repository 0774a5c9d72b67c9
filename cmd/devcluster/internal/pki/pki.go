// Package pki creates the keys and certificates of a dev cluster and keeps them on
// disk, so that kubeconfigs stay valid when the cluster is restarted.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is the lifetime of every certificate.
const lifetime = 10 * 365 * 24 * time.Hour

// Authority is the certificate authority of a dev cluster. Its files and those of
// the certificates that it issues are in one private folder.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

// Identity names the PEM files of a certificate and its key.
type Identity struct {
	CertFile string
	KeyFile  string
}

// Subject is the subject of a certificate. With Hosts, names or IP addresses, the
// certificate is valid for a server too.
type Subject struct {
	CommonName   string
	Organization string
	Hosts        []string
}

// Open loads the authority in dir, or creates one if dir has none.
func Open(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create certificate folder: %w", err)
	}
	a := &Authority{dir: dir}
	id := a.identity("ca")
	if _, err := os.Stat(id.CertFile); errors.Is(err, fs.ErrNotExist) {
		if err := a.create(id); err != nil {
			return nil, fmt.Errorf("create certificate authority in %s: %w", dir, err)
		}
		return a, nil
	}
	if err := a.load(id); err != nil {
		return nil, fmt.Errorf("load certificate authority from %s: %w", dir, err)
	}
	return a, nil
}

// Own returns the files of the authority's certificate and key.
func (a *Authority) Own() Identity { return a.identity("ca") }

// Issue returns the certificate with the given name. If it does not exist, Issue
// creates it for subject. It does not compare the subject of an existing one.
func (a *Authority) Issue(name string, subject Subject) (Identity, error) {
	id := a.identity(name)
	if _, err := os.Stat(id.CertFile); err == nil {
		return id, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return id, fmt.Errorf("generate key %s: %w", name, err)
	}
	template := a.template(pkix.Name{CommonName: subject.CommonName})
	if subject.Organization != "" {
		template.Subject.Organization = []string{subject.Organization}
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, host := range subject.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(subject.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return id, fmt.Errorf("sign certificate %s: %w", name, err)
	}
	return id, write(id, der, key)
}

// SigningKey returns the file of a private key for service account tokens. It
// creates the key if it does not exist.
func (a *Authority) SigningKey(name string) (string, error) {
	file := a.identity(name).KeyFile
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("generate key %s: %w", name, err)
	}
	return file, writeKey(file, key)
}

func (a *Authority) identity(name string) Identity {
	return Identity{
		CertFile: filepath.Join(a.dir, name+".crt"),
		KeyFile:  filepath.Join(a.dir, name+".key"),
	}
}

func (a *Authority) create(id Identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key: %w", err)
	}
	template := a.template(pkix.Name{CommonName: "devcluster"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	a.key = key
	return write(id, der, key)
}

func (a *Authority) load(id Identity) error {
	der, err := readPEM(id.CertFile)
	if err != nil {
		return err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return fmt.Errorf("parse %s: %w", id.CertFile, err)
	}
	if der, err = readPEM(id.KeyFile); err != nil {
		return err
	}
	if a.key, err = x509.ParseECPrivateKey(der); err != nil {
		return fmt.Errorf("parse %s: %w", id.KeyFile, err)
	}
	return nil
}

// template returns a certificate that is valid a little earlier than now, for
// clocks that disagree.
func (a *Authority) template(subject pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic("the system has no randomness: " + err.Error())
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}
}

func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	return block.Bytes, nil
}

// write stores the key before the certificate, so that an existing certificate
// always has its key.
func write(id Identity, der []byte, key *ecdsa.PrivateKey) error {
	if err := writeKey(id.KeyFile, key); err != nil {
		return err
	}
	return os.WriteFile(id.CertFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

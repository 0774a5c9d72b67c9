package repository

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// Login is what a server wants to see. The zero value is nothing. It is a secret.
type Login struct {
	username, password string
	// authorities are CA certificates, nil for the system's.
	authorities *x509.CertPool
	// certificate is the client's, nil for none.
	certificate *tls.Certificate
}

// ReadLogin reads the data of a Secret with the keys username, password, ca.crt,
// tls.crt and tls.key. No error contains a credential.
func ReadLogin(secret map[string][]byte) (Login, error) {
	l := Login{username: string(secret["username"]), password: string(secret["password"])}
	authorities, certificate, key := secret["ca.crt"], secret["tls.crt"], secret["tls.key"]
	switch {
	case (l.username == "") != (l.password == ""):
		return Login{}, errors.New("has only one of username and password")
	case l.username == "" && authorities == nil && certificate == nil && key == nil:
		return Login{}, errors.New("has neither username and password nor ca.crt nor tls.crt and tls.key")
	}
	if authorities != nil {
		l.authorities = x509.NewCertPool()
		if !l.authorities.AppendCertsFromPEM(authorities) {
			return Login{}, errors.New("has no certificate in ca.crt")
		}
	}
	if certificate != nil || key != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return Login{}, errors.New("has no certificate in tls.crt with its key in tls.key")
		}
		l.certificate = &pair
	}
	return l, nil
}

package informer

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
)

// Kubeconfig implements the engine's Cluster. The kubeconfig has one context and
// everything inline, so that it works in another folder and environment. Files
// that the original names are read each time, since tokens rotate. Credential
// plugins are run here by client-go, not by helm.
func (c *Cluster) Kubeconfig(ctx context.Context, credentials helmtrail.Credentials) ([]byte, error) {
	config := c.configFor(credentials)
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("kubeconfig of cluster %s: %w", c.ID, err)
	}
	user, err := authInfo(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of cluster %s: %w", c.ID, err)
	}
	out := clientcmdapi.NewConfig()
	out.CurrentContext = c.ID
	out.Contexts[c.ID] = &clientcmdapi.Context{Cluster: c.ID, AuthInfo: c.ID}
	out.Clusters[c.ID] = &clientcmdapi.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
		CertificateAuthorityData: config.CAData,
		ProxyURL:                 c.connection.current.Load().proxyURL,
		DisableCompression:       config.DisableCompression,
	}
	out.AuthInfos[c.ID] = user
	data, err := clientcmd.Write(*out)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of cluster %s: %w", c.ID, err)
	}
	return data, nil
}

// configFor returns the cluster's configuration with a caller's credentials. It
// then contains none of helmtrail's own.
func (c *Cluster) configFor(credentials helmtrail.Credentials) *rest.Config {
	own := c.connection.current.Load().config
	if credentials == (helmtrail.Credentials{}) {
		return rest.CopyConfig(own)
	}
	config := rest.AnonymousClientConfig(own)
	config.BearerToken = credentials.Token
	return config
}

// secretsFor returns a client for Secrets with a caller's credentials, and a
// function that closes its connections.
func (c *Cluster) secretsFor(credentials helmtrail.Credentials) (corev1client.SecretsGetter, func(), error) {
	if credentials == (helmtrail.Credentials{}) {
		return c.secrets, func() {}, nil
	}
	config := c.configFor(credentials)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare connections: %w", err)
	}
	core, err := corev1client.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare a client: %w", err)
	}
	return core, func() { utilnet.CloseIdleConnectionsFor(client.Transport) }, nil
}

func authInfo(ctx context.Context, config *rest.Config) (*clientcmdapi.AuthInfo, error) {
	user := &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
		Username:              config.Username,
		Password:              config.Password,
		Impersonate:           config.Impersonate.UserName,
		ImpersonateUID:        config.Impersonate.UID,
		ImpersonateGroups:     config.Impersonate.Groups,
		ImpersonateUserExtra:  config.Impersonate.Extra,
	}
	if config.BearerTokenFile != "" {
		token, err := os.ReadFile(config.BearerTokenFile)
		if err != nil {
			return nil, fmt.Errorf("read token: %w", err)
		}
		user.Token = strings.TrimSpace(string(token))
	}
	if config.ExecProvider != nil || config.AuthProvider != nil {
		if err := resolvePlugin(ctx, config, user); err != nil {
			return nil, fmt.Errorf("run credential plugin: %w", err)
		}
	}
	return user, nil
}

// resolvePlugin has client-go prepare a request, and takes the credentials from it
// instead of sending it.
func resolvePlugin(ctx context.Context, config *rest.Config, user *clientcmdapi.AuthInfo) error {
	spy := &requestSpy{}
	config = rest.CopyConfig(config)
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return spy })
	roundTripper, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://localhost/", nil)
	if err != nil {
		return err
	}
	response, err := roundTripper.RoundTrip(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if token, ok := strings.CutPrefix(spy.authorization, "Bearer "); ok {
		user.Token = token
		return nil
	}

	// Without a token the plugin has returned a client certificate.
	transport, err := config.TransportConfig()
	if err != nil {
		return err
	}
	if transport.TLS.GetCertHolder == nil {
		return errors.New("it returned neither a token nor a certificate")
	}
	certificate, err := transport.TLS.GetCertHolder.GetCert()
	if err != nil {
		return err
	}
	if certificate == nil {
		return errors.New("it returned neither a token nor a certificate")
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return err
	}
	for _, der := range certificate.Certificate {
		user.ClientCertificateData = append(user.ClientCertificateData,
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	user.ClientKeyData = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	return nil
}

// requestSpy is a transport that records a request instead of sending it.
type requestSpy struct{ authorization string }

func (s *requestSpy) RoundTrip(r *http.Request) (*http.Response, error) {
	s.authorization = r.Header.Get("Authorization")
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

package cluster

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/pki"
)

// kubeconfig describes one identity at one API server. The certificates are
// embedded, so that the file can be copied elsewhere.
func kubeconfig(name, server string, authority, id pki.Identity) ([]byte, error) {
	var pem [3][]byte
	for i, file := range []string{authority.CertFile, id.CertFile, id.KeyFile} {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("build kubeconfig: %w", err)
		}
		pem[i] = text
	}
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			name: {Server: server, CertificateAuthorityData: pem[0]},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			name: {ClientCertificateData: pem[1], ClientKeyData: pem[2]},
		},
		Contexts: map[string]*clientcmdapi.Context{
			name: {Cluster: name, AuthInfo: name},
		},
		CurrentContext: name,
	})
}

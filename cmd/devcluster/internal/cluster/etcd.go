package cluster

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/pki"
)

// startEtcd runs etcd in this process, on a free port, for clients with a
// certificate of the cluster. It returns when etcd is ready. Nothing is fsynced:
// writes survive the process, but not a crash of the machine.
func startEtcd(ctx context.Context, dataDir string, authority, id pki.Identity) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Name = "devcluster"
	config.Dir = dataDir
	config.UnsafeNoFsync = true
	config.EnableGRPCGateway = false
	config.QuotaBackendBytes = 8 << 30
	config.LogLevel = "warn"
	tls := transport.TLSInfo{
		CertFile:       id.CertFile,
		KeyFile:        id.KeyFile,
		TrustedCAFile:  authority.CertFile,
		ClientCertAuth: true,
	}
	config.ClientTLSInfo, config.PeerTLSInfo = tls, tls
	anyPort := []url.URL{{Scheme: "https", Host: loopback + ":0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	// There are no peers, so nobody uses the advertised address.
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	store, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case err := <-store.Err():
		store.Close()
		return nil, fmt.Errorf("start etcd: %w", err)
	case <-ctx.Done():
		store.Close()
		return nil, ctx.Err()
	}
}

package cluster

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/pki"
)

// startEtcd runs the store in this process, on a port that the system chooses
// and that only holders of the cluster's certificates may use. It returns when
// the store serves. Nothing is fsynced: writes outlive the process, but not a
// crash of the machine.
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
	// The only member never dials a peer, so its advertised address is a name
	// in the cluster's configuration and nothing more.
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

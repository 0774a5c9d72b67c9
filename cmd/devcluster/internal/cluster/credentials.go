package cluster

import (
	"fmt"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/node"
	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/pki"
)

// credentials are the files with which the parts of a cluster authenticate.
type credentials struct {
	authority pki.Identity
	etcd      pki.Identity
	server    pki.Identity
	kubelet   pki.Identity
	admin     pki.Identity
	tokenKey  string

	adminKubeconfig     string
	managerKubeconfig   string
	schedulerKubeconfig string
}

// newCredentials creates missing credentials and keeps existing ones. It rewrites
// the kubeconfigs, which contain the port.
func newCredentials(dir directory, s settings) (credentials, error) {
	authority, err := pki.Open(dir.pki())
	if err != nil {
		return credentials{}, err
	}
	c := credentials{authority: authority.Own()}
	var manager, scheduler pki.Identity
	for _, wanted := range []struct {
		name    string
		subject pki.Subject
		into    *pki.Identity
	}{
		{"etcd", pki.Subject{CommonName: "etcd", Hosts: []string{loopback}}, &c.etcd},
		{"kube-apiserver", pki.Subject{
			CommonName: "kube-apiserver",
			Hosts: []string{
				loopback, "localhost", "10.96.0.1",
				"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			},
		}, &c.server},
		{"kubelet", pki.Subject{CommonName: "system:node:" + node.Name, Organization: "system:nodes", Hosts: []string{loopback}}, &c.kubelet},
		{"admin", pki.Subject{CommonName: "kubernetes-admin", Organization: "system:masters"}, &c.admin},
		{"kube-controller-manager", pki.Subject{CommonName: "system:kube-controller-manager"}, &manager},
		{"kube-scheduler", pki.Subject{CommonName: "system:kube-scheduler"}, &scheduler},
	} {
		if *wanted.into, err = authority.Issue(wanted.name, wanted.subject); err != nil {
			return credentials{}, err
		}
	}
	if c.tokenKey, err = authority.SigningKey("service-accounts"); err != nil {
		return credentials{}, err
	}
	for _, wanted := range []struct {
		name string
		id   pki.Identity
		into *string
	}{
		{"admin", c.admin, &c.adminKubeconfig},
		{"kube-controller-manager", manager, &c.managerKubeconfig},
		{"kube-scheduler", scheduler, &c.schedulerKubeconfig},
	} {
		text, err := kubeconfig(s.Name, s.server(), c.authority, wanted.id)
		if err != nil {
			return credentials{}, err
		}
		*wanted.into = dir.join("pki/" + wanted.name + ".kubeconfig")
		if err := replaceFile(*wanted.into, text); err != nil {
			return credentials{}, fmt.Errorf("kubeconfig of %s: %w", wanted.name, err)
		}
	}
	return c, nil
}

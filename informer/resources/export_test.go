package resources

import (
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// ClientsFor makes clients for the tests' cluster.
func ClientsFor(config *rest.Config) (c Clients, err error) {
	for _, step := range []func() error{
		func() error { c.Dynamic, err = dynamic.NewForConfig(config); return err },
		func() error { c.Metadata, err = metadata.NewForConfig(config); return err },
		func() error { c.Discovery, err = discovery.NewDiscoveryClientForConfig(config); return err },
		func() error { c.Core, err = corev1client.NewForConfig(config); return err },
		func() error { c.Apps, err = appsv1client.NewForConfig(config); return err },
		func() error { c.Batch, err = batchv1client.NewForConfig(config); return err },
	} {
		if err := step(); err != nil {
			return c, err
		}
	}
	return c, nil
}

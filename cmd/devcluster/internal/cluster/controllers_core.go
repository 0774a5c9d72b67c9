package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/servicecidrs"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	quota "k8s.io/kubernetes/pkg/quota/v1/install"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

func newTokens(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.root.Client(account)
	if err != nil {
		return nil, err
	}
	key, err := keyutil.PrivateKeyFromFile(c.files.tokenKey)
	if err != nil {
		return nil, err
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, key)
	if err != nil {
		return nil, err
	}
	authority, err := c.authority()
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := serviceaccountcontroller.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), client,
		serviceaccountcontroller.TokensControllerOptions{TokenGenerator: generator, RootCA: authority})
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newServiceAccounts(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), client,
		serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, 1) }}, nil
}

func newRootCA(_ context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	authority, err := c.authority()
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), client, authority)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, 1) }}, nil
}

func newRoleAggregation(_ context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	made := clusterroleaggregation.NewClusterRoleAggregation(c.informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newNamespaces(ctx context.Context, c *controllers, account string) ([]loop, error) {
	config, err := c.clients.Config(account)
	if err != nil {
		return nil, err
	}
	// Deleting a namespace takes many requests.
	config.QPS, config.Burst = config.QPS*20, config.Burst*100
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	made := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), 5*time.Minute, corev1.FinalizerKubernetes)
	return []loop{func(ctx context.Context) { made.Run(ctx, 2*workers) }}, nil
}

func newGarbageCollector(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	discovery, err := c.clients.DiscoveryClient(account)
	if err != nil {
		return nil, err
	}
	config, err := c.clients.Config(account)
	if err != nil {
		return nil, err
	}
	config.QPS *= 2 // a deletion takes two requests
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, c.metadata, c.mapper, garbagecollector.DefaultIgnoredResources(), c.generic, c.started)
	made, err := garbagecollector.NewComposedGarbageCollector(ctx, client, objects, c.mapper, graph)
	if err != nil {
		return nil, err
	}
	return []loop{
		func(ctx context.Context) { made.Run(ctx, 4*workers, discoveryPeriod) },
		func(ctx context.Context) { made.Sync(ctx, discovery, discoveryPeriod) },
	}, nil
}

func newQuota(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	discovery, err := c.clients.DiscoveryClient(account)
	if err != nil {
		return nil, err
	}
	configuration, err := quota.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(c.informers.ForResource), c.informers)
	if err != nil {
		return nil, err
	}
	made, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     c.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(5 * time.Minute),
		InformerFactory:           c.generic,
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(resync),
		DiscoveryFunc:             discovery.ServerPreferredNamespacedResources,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          c.started,
		Registry:                  generic.NewRegistry(configuration.Evaluators()),
		UpdateFilter:              quota.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return []loop{
		func(ctx context.Context) { made.Run(ctx, workers) },
		func(ctx context.Context) {
			made.Sync(ctx, discovery.ServerPreferredNamespacedResources, discoveryPeriod)
		},
	}, nil
}

func newEndpoints(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, 0)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newEndpointSlices(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), c.informers.Discovery().V1().EndpointSlices(), 100, client, 0)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newServiceCIDRs(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	networking := c.informers.Networking().V1()
	made := servicecidrs.NewController(ctx, networking.ServiceCIDRs(), networking.IPAddresses(), client)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

// newVolumeBinder binds claims to volumes. It has no plugins: it neither creates nor
// recycles volumes.
func newVolumeBinder(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient:                client,
		SyncPeriod:                15 * time.Second,
		VolumeInformer:            core.PersistentVolumes(),
		ClaimInformer:             core.PersistentVolumeClaims(),
		ClassInformer:             c.informers.Storage().V1().StorageClasses(),
		PodInformer:               core.Pods(),
		NodeInformer:              core.Nodes(),
		EnableDynamicProvisioning: true,
	})
	if err != nil {
		return nil, err
	}
	return []loop{made.Run}, nil
}

func newClaimProtection(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, 1) }}, nil
}

func newVolumeProtection(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	made, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), c.informers.Core().V1().PersistentVolumes(), client)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, 1) }}, nil
}

func newNodeLifecycle(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := nodelifecycle.NewNodeLifecycleController(ctx, c.informers.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		c.informers.Apps().V1().DaemonSets(), client,
		5*time.Second, time.Minute, 50*time.Second, 0.1, 0.01, 50, 0.55) // the defaults of the command's flags
	if err != nil {
		return nil, err
	}
	return []loop{made.Run}, nil
}

func newTaintEviction(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made, err := tainteviction.New(ctx, client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return []loop{made.Run}, nil
}

package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"
)

func newDeployments(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	apps := c.informers.Apps().V1()
	made, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), c.informers.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newReplicaSets(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	made := replicaset.NewReplicaSetController(ctx, c.informers.Apps().V1().ReplicaSets(), c.informers.Core().V1().Pods(), client, replicaset.BurstReplicas)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newReplication(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	made := replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), client, replication.BurstReplicas)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newStatefulSets(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core, apps := c.informers.Core().V1(), c.informers.Apps().V1()
	made := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), client)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newDaemonSets(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	core, apps := c.informers.Core().V1(), c.informers.Apps().V1()
	made, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), client,
		flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newJobs(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	// Workloads and pod groups belong to a feature that is off by default.
	made, err := job.NewController(ctx, client, c.informers.Core().V1().Pods(), c.informers.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newCronJobs(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	batch := c.informers.Batch().V1()
	made, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), client)
	if err != nil {
		return nil, err
	}
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newFinishedJobs(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	made := ttlafterfinished.New(ctx, c.informers.Batch().V1().Jobs(), client)
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

func newAutoscaler(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	config, err := c.clients.Config(account)
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(config, c.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, err
	}
	resources, err := resourceclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	external, err := external_metrics.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	const period = 15 * time.Second
	versions := custom_metrics.NewAvailableAPIsGetter(client.Discovery())
	made := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), c.mapper,
		metrics.NewRESTMetricsClient(resources, custom_metrics.NewForConfig(config, c.mapper, versions), external),
		c.informers.Autoscaling().V2().HorizontalPodAutoscalers(), c.informers.Core().V1().Pods(),
		period, 5*time.Minute, 0.1, 5*time.Minute, 30*time.Second) // the defaults of the command's flags
	return []loop{
		func(ctx context.Context) { custom_metrics.PeriodicallyInvalidate(versions, period, ctx.Done()) },
		func(ctx context.Context) { made.Run(ctx, workers) },
	}, nil
}

func newDisruption(ctx context.Context, c *controllers, account string) ([]loop, error) {
	client, err := c.client(account)
	if err != nil {
		return nil, err
	}
	config, err := c.clients.Config(account)
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(config, c.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, err
	}
	core, apps := c.informers.Core().V1(), c.informers.Apps().V1()
	made := disruption.NewDisruptionController(ctx, core.Pods(), c.informers.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, c.mapper, scales, client.Discovery())
	return []loop{func(ctx context.Context) { made.Run(ctx, workers) }}, nil
}

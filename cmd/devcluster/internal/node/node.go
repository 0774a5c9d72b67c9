// Package node simulates a Kubernetes node: its pods go through the states that a
// kubelet would report, but no container runs. KWOK plays the stages that this
// package defines.
//
// The tags of a pod's images, or BehaviorAnnotation, choose its behavior; see
// Behavior.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/client"
)

const (
	// Name is the name of the node.
	Name = "node-1"

	// Capacity of the node. A pod that asks for more stays unschedulable.
	cpus   = "32"
	memory = "256Gi"
	pods   = "1000"

	nodeIP  = "127.0.0.1"
	podCIDR = "10.244.0.1/16"

	// Kubernetes considers a node lost if its lease is older than 50 seconds. KWOK
	// renews the lease after a quarter of this duration.
	leaseSeconds = 40
	// Enough workers for a burst of some hundred pods.
	workers = 8
)

// Options configure a node.
type Options struct {
	// Kubeconfig is the path of an administrator's kubeconfig.
	Kubeconfig string
	// CertFile and KeyFile are the kubelet's certificate and key.
	CertFile, KeyFile string
	// Logs gets KWOK's log.
	Logs io.Writer
}

// Run registers the node and simulates it until ctx is done.
func Run(ctx context.Context, o Options) error {
	ctx = log.NewContext(ctx, log.NewLogger(o.Logs, log.LevelWarn))
	clients, err := client.NewClientset("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("node: make clients: %w", err)
	}
	config, err := clients.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("node: make clients: %w", err)
	}
	restClient, err := rest.RESTClientFor(config)
	if err != nil {
		return fmt.Errorf("node: make REST client: %w", err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("node: make typed client: %w", err)
	}
	dynamic, err := clients.ToDynamicClient()
	if err != nil {
		return fmt.Errorf("node: make dynamic client: %w", err)
	}
	mapper, err := clients.ToRESTMapper()
	if err != nil {
		return fmt.Errorf("node: make REST mapper: %w", err)
	}
	controller, err := controllers.NewController(controllers.Config{
		Clock:                      clock.RealClock{},
		DynamicClient:              dynamic,
		RESTClient:                 restClient,
		RESTMapper:                 mapper,
		TypedClient:                typed,
		ImpersonatingDynamicClient: clients.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:   clients.ToImpersonatingTypedClient(),
		ManageSingleNode:           Name,
		CIDR:                       podCIDR,
		NodeIP:                     nodeIP,
		NodeName:                   Name,
		NodeLeaseDurationSeconds:   leaseSeconds,
		NodeLeaseParallelism:       1,
		NodePlayStageParallelism:   1,
		PodPlayStageParallelism:    workers,
		PodsOnNodeSyncParallelism:  1,
		// The same after a restart, so that the old lease need not expire.
		ID: "devcluster",
		LocalStages: map[internalversion.StageResourceRef][]*internalversion.Stage{
			nodeResource: nodeStages(),
			podResource:  podStages(),
		},
		FuncMap: templateFunctions,
	})
	if err != nil {
		return fmt.Errorf("node: configure KWOK: %w", err)
	}
	kubelet, err := newKubelet(typed)
	if err != nil {
		return fmt.Errorf("node: listen: %w", err)
	}
	if err := register(ctx, typed, kubelet.port()); err != nil {
		return errors.Join(fmt.Errorf("node: register: %w", err), kubelet.listener.Close())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := kubelet.run(ctx, o.CertFile, o.KeyFile); err != nil {
			return fmt.Errorf("node: serve logs: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		if err := controller.Start(ctx); err != nil {
			return fmt.Errorf("node: start KWOK: %w", err)
		}
		<-ctx.Done()
		return nil
	})
	return group.Wait()
}

// register creates the node if it does not exist, and sets the port of its
// kubelet, which changes with each start.
func register(ctx context.Context, client kubernetes.Interface, port int32) error {
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: Name,
			Labels: map[string]string{
				corev1.LabelHostname:   Name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	status := fmt.Sprintf(`{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`, port)
	_, err = client.CoreV1().Nodes().Patch(ctx, Name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	return err
}

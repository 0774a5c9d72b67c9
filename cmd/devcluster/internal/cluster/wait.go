package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/node"
)

const pollInterval = 50 * time.Millisecond

// waitServing blocks until the API server is ready, including its built-in roles,
// or ctx is done.
func waitServing(ctx context.Context, client kubernetes.Interface) error {
	return poll(ctx, "the API server to be ready", func(ctx context.Context) error {
		var status int
		err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status).Error()
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("/readyz answered %d", status)
		}
		return err
	})
}

// waitUsable blocks until pods can be created and scheduled: the default service
// account exists and the node is ready.
func waitUsable(ctx context.Context, client kubernetes.Interface) error {
	err := poll(ctx, "the default service account", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return poll(ctx, "the node to take pods", func(ctx context.Context) error {
		n, err := client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Errorf("node %s is not registered yet", node.Name)
		case err != nil:
			return err
		case len(n.Spec.Taints) > 0:
			return fmt.Errorf("node %s is tainted %s", node.Name, n.Spec.Taints[0].Key)
		}
		for _, condition := range n.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("node %s is not ready", node.Name)
	})
}

// poll calls check until it succeeds or ctx is done. Its error contains the last
// error of check.
func poll(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); err != nil {
			if ctx.Err() == nil {
				last = err
			}
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w (last: %v)", what, context.Cause(ctx), last)
	}
	return nil
}

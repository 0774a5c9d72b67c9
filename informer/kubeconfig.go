package informer

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Options says which clusters to open.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. Empty means what kubectl would
	// take: $KUBECONFIG, ~/.kube/config, else the Pod's own service account.
	Kubeconfig string
	// Contexts names the contexts to watch, one cluster each; none means the
	// current context.
	Contexts []string
	// Log receives what operators should know; nil discards it.
	Log *slog.Logger
}

// inClusterID is the id of the cluster that a Pod without a kubeconfig runs in.
const inClusterID = "in-cluster"

// reserved holds the first URL segments that routes use, and which therefore
// cannot be a cluster's id.
var reserved = []string{
	"helm", "api", "charts", "clusters", "login", "logout", "me", "healthz", "readyz", "metrics", "openapi.yaml", "assets",
}

// Open prepares the clusters of a kubeconfig. It reads files but starts nothing
// and connects to nothing, so an unreachable cluster is no error here. It fails
// when a context does not exist or is incomplete, and when the id made of its
// name is reserved or used by another.
func Open(o Options) ([]*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	raw, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w", err)
	}
	if len(raw.Contexts) == 0 && len(o.Contexts) == 0 && o.Kubeconfig == "" {
		return openInCluster(o)
	}
	contexts := o.Contexts
	if len(contexts) == 0 {
		if raw.CurrentContext == "" {
			return nil, errors.New("load kubeconfig: it has no current context, name one")
		}
		contexts = []string{raw.CurrentContext}
	}
	var clusters []*Cluster
	owners := map[string]string{}
	for _, name := range contexts {
		id, err := clusterID(name)
		if err != nil {
			return nil, err
		}
		if other, taken := owners[id]; taken {
			return nil, fmt.Errorf("context %q: its cluster id %q is already that of context %q", name, id, other)
		}
		owners[id] = name
		c, err := openContext(raw, name, id, o)
		if err != nil {
			return nil, fmt.Errorf("context %q: %w", name, err)
		}
		clusters = append(clusters, c)
	}
	return clusters, nil
}

func openInCluster(o Options) ([]*Cluster, error) {
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, errors.New("load kubeconfig: there is none, and this is not a Pod")
	}
	if err != nil {
		return nil, fmt.Errorf("use the Pod's service account: %w", err)
	}
	c, err := newCluster(inClusterID, config, "", o.Log)
	if err != nil {
		return nil, err
	}
	return []*Cluster{c}, nil
}

func openContext(raw *clientcmdapi.Config, name, id string, o Options) (*Cluster, error) {
	context, ok := raw.Contexts[name]
	if !ok {
		return nil, fmt.Errorf("the kubeconfig has no such context, only: %s", strings.Join(contextNames(raw), ", "))
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	proxyURL := ""
	if cluster := raw.Clusters[context.Cluster]; cluster != nil {
		proxyURL = cluster.ProxyURL
	}
	return newCluster(id, config, proxyURL, o.Log)
}

func contextNames(raw *clientcmdapi.Config) []string {
	names := make([]string, 0, len(raw.Contexts))
	for name := range raw.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// clusterID makes a context's name fit into a URL segment.
func clusterID(context string) (string, error) {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(context))
	if id == "" {
		return "", errors.New("a context without a name cannot be a cluster")
	}
	if slices.Contains(reserved, id) {
		return "", fmt.Errorf("context %q: %q is a reserved address, rename the context", context, id)
	}
	return id, nil
}

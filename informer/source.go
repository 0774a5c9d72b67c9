package informer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// reloadEvery is how often a kubeconfig's files are checked for changes.
const reloadEvery = 5 * time.Second

// source is the origin of a cluster's address and credentials: a context of a
// kubeconfig, or the service account of a Pod, whose token client-go reloads by
// itself.
type source struct {
	rules   *clientcmd.ClientConfigLoadingRules // nil for a service account
	context string                              // "" for the current one

	stamps []string
	text   []byte // the context with its cluster and user
}

// load reads the context. If the kubeconfig has already been read, it is raw.
func (s *source) load(raw *clientcmdapi.Config) (config *rest.Config, proxyURL string, err error) {
	s.stamps = s.look()
	if raw == nil {
		if raw, err = s.rules.Load(); err != nil {
			return nil, "", fmt.Errorf("load kubeconfig: %w", err)
		}
	}
	name := s.context
	if name == "" {
		name = raw.CurrentContext
	}
	context, ok := raw.Contexts[name]
	if !ok {
		return nil, "", fmt.Errorf("the kubeconfig has no such context, only: %s", strings.Join(contextNames(raw), ", "))
	}
	if raw.Clusters[context.Cluster] == nil {
		return nil, "", fmt.Errorf("its cluster %q is not in the kubeconfig", context.Cluster)
	}
	config, err = clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, "", err
	}
	proxyURL = raw.Clusters[context.Cluster].ProxyURL
	only := raw.DeepCopy()
	only.CurrentContext = name
	if err := clientcmdapi.MinifyConfig(only); err != nil {
		return nil, "", err
	}
	s.text, err = clientcmd.Write(*only)
	return config, proxyURL, err
}

// look returns a value that differs when the files have changed.
func (s *source) look() []string {
	var stamps []string
	for _, path := range s.rules.GetLoadingPrecedence() {
		info, err := os.Stat(path)
		if err != nil {
			stamps = append(stamps, "")
			continue
		}
		stamps = append(stamps, fmt.Sprint(info.ModTime().UnixNano(), info.Size()))
	}
	return stamps
}

// follow applies changes of the kubeconfig until ctx ends. A file that cannot be
// read, or no longer has the context, changes nothing.
func (c *Cluster) follow(ctx context.Context) {
	if c.source == nil || c.source.rules == nil {
		return
	}
	tick := time.NewTicker(reloadEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if slices.Equal(c.source.look(), c.source.stamps) {
				continue
			}
			if err := c.reload(); err != nil {
				c.log.Warn("the kubeconfig has changed but cannot be used; keeping the previous one", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the context again and connects with its new settings.
func (c *Cluster) reload() error {
	before := c.source.text
	config, proxyURL, err := c.source.load(nil)
	if err != nil {
		return err
	}
	if bytes.Equal(before, c.source.text) {
		return nil
	}
	e, err := newEndpoint(config, proxyURL)
	if err != nil {
		return errors.Join(err, errors.New("the context does not say how to reach the cluster"))
	}
	c.connection.replace(e)
	c.log.Info("reloaded the kubeconfig", "server", publicAddress(e.config.Host))
	return nil
}

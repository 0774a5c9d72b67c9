package informer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// The resources in which OpenShift keeps chart repositories
// (github.com/openshift/api, helm/v1beta1).
var (
	clusterRepositories = schema.GroupVersionResource{Group: "helm.openshift.io", Version: "v1beta1", Resource: "helmchartrepositories"}
	projectRepositories = schema.GroupVersionResource{Group: "helm.openshift.io", Version: "v1beta1", Resource: "projecthelmchartrepositories"}
)

// repositoryConfigNamespace holds the Secrets and ConfigMaps that cluster-wide
// repositories refer to.
const repositoryConfigNamespace = "openshift-config"

// caller is a cluster's API with a caller's credentials.
type caller struct {
	config *rest.Config
	client *http.Client
}

// callerFor returns the API with the credentials, and a function that closes the
// connections.
func (c *Cluster) callerFor(credentials helmtrail.Credentials) (caller, func(), error) {
	config := c.configFor(credentials)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return caller{}, nil, fmt.Errorf("prepare connections: %w", err)
	}
	return caller{config, client}, func() { utilnet.CloseIdleConnectionsFor(client.Transport) }, nil
}

// KubeVersion returns the API server's version, such as v1.2.3.
func (c *Cluster) KubeVersion(context.Context) (string, error) {
	api, done, err := c.callerFor(helmtrail.Credentials{})
	if err != nil {
		return "", err
	}
	defer done()
	client, err := discovery.NewDiscoveryClientForConfigAndClient(api.config, api.client)
	if err != nil {
		return "", fmt.Errorf("prepare a client: %w", err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("read the version of the API server: %w", err)
	}
	return version.GitVersion, nil
}

// ReleaseSecret returns the Secret of a release's revision as the API server has it,
// read with the caller's rights. It fails with [helmtrail.ErrNotFound] if the Secret
// does not exist or is not Helm's.
func (c *Cluster) ReleaseSecret(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (data json.RawMessage, labels map[string]string, err error) {
	secrets, done, err := c.secretsFor(credentials)
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	}
	defer done()
	secret, err := secrets.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && secret.Type != decoder.SecretType {
		err = helmtrail.ErrNotFound
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	}
	secret.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	secret.ManagedFields = nil
	if data, err = json.Marshal(secret); err != nil {
		return nil, nil, fmt.Errorf("encode Secret %s/%s: %w", namespace, name, err)
	}
	return data, secret.Labels, nil
}

// ChartRepositories returns the cluster-wide chart repositories, then those of one
// namespace, limited to those that the caller may see. A cluster without such resources
// has none. A repository that cannot be used has a Problem.
func (c *Cluster) ChartRepositories(ctx context.Context, credentials helmtrail.Credentials, namespace string) ([]helmtrail.ChartRepository, error) {
	api, done, err := c.callerFor(credentials)
	if err != nil {
		return nil, err
	}
	defer done()
	objects, err := dynamic.NewForConfigAndClient(api.config, api.client)
	if err != nil {
		return nil, fmt.Errorf("prepare a client: %w", err)
	}
	core, err := corev1client.NewForConfigAndClient(api.config, api.client)
	if err != nil {
		return nil, fmt.Errorf("prepare a client: %w", err)
	}
	found, err := listRepositories(ctx, objects.Resource(clusterRepositories))
	if err != nil {
		return nil, fmt.Errorf("list the cluster's chart repositories: %w", err)
	}
	if namespace != "" {
		own, err := listRepositories(ctx, objects.Resource(projectRepositories).Namespace(namespace))
		if err != nil {
			return nil, fmt.Errorf("list the chart repositories of namespace %s: %w", namespace, err)
		}
		found = append(found, own...)
	}
	repositories := make([]helmtrail.ChartRepository, 0, len(found))
	for i := range found {
		if disabled, _, _ := unstructured.NestedBool(found[i].Object, "spec", "disabled"); !disabled {
			repositories = append(repositories, readRepository(ctx, core, &found[i]))
		}
	}
	return repositories, nil
}

// listRepositories lists one kind. It returns none if there is no such kind or if
// the caller may not see it.
func listRepositories(ctx context.Context, objects dynamic.ResourceInterface) ([]unstructured.Unstructured, error) {
	list, err := objects.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// readRepository reads a repository and the objects that it refers to.
func readRepository(ctx context.Context, core corev1client.CoreV1Interface, object *unstructured.Unstructured) helmtrail.ChartRepository {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, append([]string{"spec", "connectionConfig"}, path...)...)
		return value
	}
	r := helmtrail.ChartRepository{Name: object.GetName(), Namespace: object.GetNamespace(), URL: text("url")}
	from := r.Namespace
	if from == "" {
		from = repositoryConfigNamespace
	} else if other := text("basicAuthConfig", "namespace"); other != "" && other != from {
		r.Problem = "its credentials are in another namespace"
		return r
	}
	access := map[string][]byte{}
	if name := text("basicAuthConfig", "name"); name != "" {
		secret, err := core.Secrets(from).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			r.Problem = fmt.Sprintf("its credentials cannot be read: %v", err)
			return r
		}
		access[corev1.BasicAuthUsernameKey], access[corev1.BasicAuthPasswordKey] = secret.Data[corev1.BasicAuthUsernameKey], secret.Data[corev1.BasicAuthPasswordKey]
	}
	if name := text("ca", "name"); name != "" {
		bundle, err := core.ConfigMaps(from).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			r.Problem = fmt.Sprintf("its certificate authorities cannot be read: %v", err)
			return r
		}
		access["ca.crt"] = []byte(bundle.Data["ca-bundle.crt"])
	}
	if name := text("tlsClientConfig", "name"); name != "" {
		secret, err := core.Secrets(from).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			r.Problem = fmt.Sprintf("its client certificate cannot be read: %v", err)
			return r
		}
		for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			access[key] = secret.Data[key]
		}
	}
	if len(access) > 0 {
		r.Access = access
	}
	return r
}

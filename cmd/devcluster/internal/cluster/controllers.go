package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
)

const (
	managerName = "kube-controller-manager"
	// workers is the number of objects that a controller processes concurrently.
	workers = 5
	// resync is the interval at which informers pass every object to the
	// controllers again.
	resync = 12 * time.Hour
	// discoveryPeriod is the interval at which controllers look for new kinds.
	discoveryPeriod = 30 * time.Second
)

// controllerFiles are the files that controllers need.
type controllerFiles struct {
	kubeconfig string // the controller manager's
	tokenKey   string // signs the tokens in service account Secrets
	rootCA     string // the API server's authority
}

// controllers has what the controllers share. They are those of
// kube-controller-manager, without its program: it links forty more controllers, for
// cloud providers, volumes and nodes, and with them a kubelet and a container
// runtime's client.
type controllers struct {
	informers informers.SharedInformerFactory
	// generic also has informers for kinds without a Go type, as metadata.
	generic  informerfactory.InformerFactory
	metadata metadata.Interface
	mapper   *restmapper.DeferredDiscoveryRESTMapper
	// started is closed when the informers are running.
	started chan struct{}
	files   controllerFiles

	root    clientbuilder.ControllerClientBuilder
	clients clientbuilder.ControllerClientBuilder // one service account per controller
}

// runControllers runs the controllers for the objects that a chart can contain. It
// blocks until ctx is done and all of them have ended.
func runControllers(ctx context.Context, files controllerFiles) error {
	c, err := newControllers(ctx, files)
	if err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	var loops []loop
	for _, known := range controllerTable {
		made, err := known.make(ctx, c, known.account)
		if err != nil {
			return fmt.Errorf("controllers: %s: %w", known.account, err)
		}
		loops = append(loops, made...)
	}
	c.informers.Start(ctx.Done())
	defer c.informers.Shutdown()
	c.generic.Start(ctx.Done())
	close(c.started)
	var running sync.WaitGroup
	for _, run := range loops {
		running.Go(func() { run(ctx) })
	}
	running.Wait()
	return endedEarly(ctx, "controllers")
}

func newControllers(ctx context.Context, files controllerFiles) (*controllers, error) {
	config, err := clientcmd.BuildConfigFromFlags("", files.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1000, 2000
	config.ContentType = runtime.ContentTypeProtobuf
	rest.AddUserAgent(config, managerName)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &controllers{started: make(chan struct{}), files: files}
	c.root = clientbuilder.SimpleControllerClientBuilder{ClientConfig: config}
	c.clients = clientbuilder.NewDynamicClientBuilder(rest.AnonymousClientConfig(config), client.CoreV1(), metav1.NamespaceSystem)
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	c.informers = informers.NewSharedInformerFactory(client, resync)
	c.generic = informerfactory.NewInformerFactory(c.informers, metadatainformer.NewSharedInformerFactory(c.metadata, resync))
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	go wait.UntilWithContext(ctx, func(context.Context) { c.mapper.Reset() }, discoveryPeriod)
	return c, nil
}

// client returns a client with the permissions of a controller's service account.
func (c *controllers) client(account string) (kubernetes.Interface, error) {
	return c.clients.Client(account)
}

// authority returns the certificate that signed the API server's.
func (c *controllers) authority() ([]byte, error) { return os.ReadFile(c.files.rootCA) }

// Package cluster runs a real Kubernetes control plane in one process: etcd,
// kube-apiserver, controllers and kube-scheduler, with one simulated node. It is
// meant for a demo and for tests.
//
// Everything listens on the loopback address. The credentials are in the
// cluster's folder, which only its owner can read.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/node"
)

const (
	// DefaultName is the name of a cluster without a given name.
	DefaultName = "dev"

	loopback    = "127.0.0.1"
	serviceCIDR = "10.96.0.0/16"

	// stopTimeout bounds the orderly stop of each part.
	stopTimeout = 4 * time.Second
	// startTimeout bounds the time until the cluster is ready.
	startTimeout = 2 * time.Minute
)

// Options configure a cluster. If Name or Port is zero, the cluster uses the value
// of its previous run, or the default.
type Options struct {
	// Dir holds all files: data, certificates, port, log and kubeconfig.
	Dir string
	// Name is the name of the kubeconfig's context, cluster and user.
	Name string
	// Port is the port of the API server.
	Port int
	// Verbosity is the level of the components' log, devcluster.log in Dir.
	Verbosity int
	// Terminal gets a line for each step. It must not be the process's standard
	// error, which Run redirects to the log.
	Terminal *os.File
	// Ready is called once, with the path of the administrator's kubeconfig,
	// when the cluster can be used.
	Ready func(kubeconfig string)
}

// Run runs a cluster. It blocks until ctx is done and everything has stopped. Call
// it once in a process. It creates the kubeconfig when the cluster is ready, and
// leaves it in place.
func Run(ctx context.Context, o Options) (err error) {
	dir := directory(o.Dir)
	unlock, err := dir.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := divert(dir.log(), o.Terminal, o.Verbosity); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nthe components' log is %s", err, dir.log())
		}
	}()
	if err := os.Remove(dir.kubeconfig()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old kubeconfig: %w", err)
	}
	settings, err := dir.resolve(o.Name, o.Port)
	if err != nil {
		return err
	}
	listener, err := listen(settings.Port)
	if err != nil {
		return err
	}
	defer listener.Close()
	settings.Port = listener.Addr().(*net.TCPAddr).Port
	if err := dir.keep(settings); err != nil {
		return err
	}
	c := &run{Options: o, dir: dir, settings: settings, started: time.Now()}
	return c.run(ctx, listener)
}

// run is one run of a cluster.
type run struct {
	Options
	dir      directory
	settings settings
	started  time.Time
	files    credentials
}

func (c *run) say(format string, args ...any) {
	fmt.Fprintf(c.Terminal, "%5.1fs  %s\n", time.Since(c.started).Seconds(), fmt.Sprintf(format, args...))
}

// run starts the parts in the order of their dependencies and stops them in
// reverse. If one part fails, all are stopped.
func (c *run) run(ctx context.Context, listener net.Listener) (err error) {
	if c.files, err = newCredentials(c.dir, c.settings); err != nil {
		return err
	}
	plane, err := newControlPlane()
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	c.say("starting etcd, data in %s", c.dir.etcd())
	store, err := startEtcd(ctx, c.dir.etcd(), c.files.authority, c.files.etcd)
	if err != nil {
		return err
	}
	defer c.stop("etcd", func() error { store.Close(); return nil })
	go func() {
		if err, failed := <-store.Err(); failed {
			fail(fmt.Errorf("etcd: %w", err))
		}
	}()

	c.say("starting the API server on https://%s", listener.Addr())
	stopServer := start(fail, func(ctx context.Context) error {
		return plane.runAPIServer(ctx, listener, c.apiServerFlags(store))
	})
	defer c.stop("the API server", stopServer)

	err = c.bringUp(ctx, plane, fail)
	if err != nil {
		// Report the cause rather than the wait that it interrupted.
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return cause
		}
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return nil
}

// bringUp starts the parts that need the API server and announces the cluster. It
// blocks until ctx is done and those parts have stopped.
func (c *run) bringUp(ctx context.Context, plane *controlPlane, fail context.CancelCauseFunc) error {
	admin, err := clientcmd.BuildConfigFromFlags("", c.files.adminKubeconfig)
	if err != nil {
		return fmt.Errorf("read own kubeconfig: %w", err)
	}
	// Disable the default limit of five requests per second.
	admin.QPS = -1
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	starting, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the cluster was not ready after %v", startTimeout))
	defer cancel()
	if err := waitServing(starting, client); err != nil {
		return err
	}

	c.say("starting the controllers, the scheduler and the node")
	stopParts := start(fail, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error {
			return runControllers(ctx, controllerFiles{
				kubeconfig: c.files.managerKubeconfig, tokenKey: c.files.tokenKey, rootCA: c.files.authority.CertFile,
			})
		})
		group.Go(func() error { return plane.runScheduler(ctx, c.schedulerFlags()) })
		group.Go(func() error {
			return node.Run(ctx, node.Options{
				Kubeconfig: c.files.adminKubeconfig, CertFile: c.files.kubelet.CertFile, KeyFile: c.files.kubelet.KeyFile, Logs: os.Stderr,
			})
		})
		return group.Wait()
	})
	defer c.stop("controllers, scheduler and node", stopParts)
	if err := waitUsable(starting, client); err != nil {
		return err
	}
	text, err := kubeconfig(c.settings.Name, c.settings.server(), c.files.authority, c.files.admin)
	if err != nil {
		return err
	}
	if err := replaceFile(c.dir.kubeconfig(), text); err != nil {
		return err
	}
	c.say("ready, context %q", c.settings.Name)
	if c.Ready != nil {
		c.Ready(c.dir.kubeconfig())
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// start runs a part in the background and returns a function that stops it and
// waits. A failure is reported even while the part is being stopped.
func start(fail context.CancelCauseFunc, part func(context.Context) error) (stop func() error) {
	// Not derived from the cluster's context: parts stop in order.
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := part(ctx)
		if err != nil {
			fail(err)
		}
		ended <- err
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

// stop stops a part and waits at most stopTimeout: clients with open connections
// can delay an API server's shutdown without limit.
func (c *run) stop(part string, end func() error) {
	c.say("stopping %s", part)
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	select {
	case err := <-ended:
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s ended with: %v\n", part, err)
		}
	case <-time.After(stopTimeout):
		fmt.Fprintf(os.Stderr, "%s did not end within %v\n", part, stopTimeout)
	}
}

func (c *run) apiServerFlags(store *embed.Etcd) []string {
	return []string{
		"--etcd-servers=https://" + store.Clients[0].Addr().String(),
		"--etcd-cafile=" + c.files.authority.CertFile,
		"--etcd-certfile=" + c.files.etcd.CertFile,
		"--etcd-keyfile=" + c.files.etcd.KeyFile,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(c.settings.Port),
		"--advertise-address=" + loopback,
		// The kubernetes Service does not accept a loopback address.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.files.server.CertFile,
		"--tls-private-key-file=" + c.files.server.KeyFile,
		"--client-ca-file=" + c.files.authority.CertFile,
		"--authorization-mode=Node,RBAC",
		"--kubelet-certificate-authority=" + c.files.authority.CertFile,
		"--kubelet-preferred-address-types=InternalIP",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.files.tokenKey,
		"--service-account-signing-key-file=" + c.files.tokenKey,
		"--allow-privileged=true",
		"--profiling=false",
	}
}

func (c *run) schedulerFlags() []string {
	return []string{
		"--kubeconfig=" + c.files.schedulerKubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}
}

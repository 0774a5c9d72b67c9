package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/connrotation"
)

const (
	kubeconfigVariable = "HELMTRAIL_TEST_KUBECONFIG"
	binVariable        = "HELMTRAIL_TEST_BIN"

	// startTimeout is long: a dev cluster needs seconds, but shares the machine
	// with other tests.
	startTimeout = 3 * time.Minute
	stopTimeout  = 30 * time.Second
)

// own is the dev cluster of this test binary. It is global because it belongs to the
// process: TestMain and all tests share it.
var own devcluster

// Main runs the tests of a package and then stops what they share: first it calls
// each stop, with whether a test has failed, then it stops the dev cluster, if
// one was started. It fails if goroutines are left. It does not return.
func Main(m *testing.M, stops ...func(failed bool) error) {
	code := m.Run()
	for _, stop := range stops {
		if err := stop(code != 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := own.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the dev cluster:", err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Kubeconfig returns the path of an administrator's kubeconfig. The first call
// may start a dev cluster, which takes some seconds.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(kubeconfigVariable); path != "" {
		return path
	}
	path, err := own.start(Binary(t, "devcluster"))
	if err != nil {
		t.Fatalf("start a dev cluster: %v", err)
	}
	return path
}

// Config returns a client configuration for the cluster. Its connections are closed
// when the test ends.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", Kubeconfig(t))
	if err != nil {
		t.Fatalf("read kubeconfig: %v", err)
	}
	config.QPS = -1
	dialer := connrotation.NewDialer((&net.Dialer{Timeout: 10 * time.Second}).DialContext)
	config.Dial = dialer.DialContext
	t.Cleanup(dialer.CloseAll)
	return config
}

// Core returns a client for the core API group.
func Core(t testing.TB) corev1client.CoreV1Interface {
	t.Helper()
	client, err := corev1client.NewForConfig(Config(t))
	if err != nil {
		t.Fatalf("make a client: %v", err)
	}
	return client
}

// Namespace creates a namespace for the test. It is deleted when the test ends, but
// the test does not wait for that.
func Namespace(t testing.TB) string {
	t.Helper()
	core := Core(t)
	name := "test-" + rand.String(8)
	_, err := core.Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := core.Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", name, err)
		}
	})
	return name
}

// Binary returns the path of a program in bin.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path, err := FindBinary(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// FindBinary is Binary for callers without a test.
func FindBinary(name string) (string, error) {
	folder := os.Getenv(binVariable)
	if folder == "" {
		root, err := repositoryRoot()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(root, "bin")
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing (%w): run make bin/%s", name, err, name)
	}
	return path, nil
}

// repositoryRoot returns the folder of the product's go.mod. It searches upwards
// from the package under test.
func repositoryRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module github.com/helmtrail/helmtrail\n") {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("no folder above has the repository's go.mod")
		}
		folder = parent
	}
}

// devcluster is a process that runs a dev cluster.
type devcluster struct {
	mu         sync.Mutex
	started    bool
	kubeconfig string
	err        error
	folder     string
	process    *os.Process
	ended      chan struct{}
}

// start runs the program once, waits until it is ready and returns the path of
// its kubeconfig.
func (d *devcluster) start(program string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.started {
		d.started = true
		d.kubeconfig, d.err = d.run(program)
	}
	return d.kubeconfig, d.err
}

func (d *devcluster) run(program string) (string, error) {
	folder, err := os.MkdirTemp("", "helmtrail-test-")
	if err != nil {
		return "", err
	}
	d.folder, d.ended = folder, make(chan struct{})
	command := exec.Command(program, "up", "--dir", filepath.Join(folder, "cluster"))
	command.Stderr = os.Stderr
	endWithTests(command)
	output, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	begun := make(chan error)
	ready := make(chan string, 1)
	go func() {
		// The kernel sends the signal when the thread that forked ends, so that
		// thread must not end.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(d.ended)
		err := command.Start()
		begun <- err
		if err != nil {
			return
		}
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if path, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- path
			}
		}
		_ = command.Wait()
	}()
	if err := <-begun; err != nil {
		return "", err
	}
	d.process = command.Process
	select {
	case path := <-ready:
		return path, nil
	case <-d.ended:
		return "", errors.New("it ended before it was ready")
	case <-time.After(startTimeout):
		return "", fmt.Errorf("it was not ready after %v", startTimeout)
	}
}

// stop ends the cluster, if there is one, and removes its folder.
func (d *devcluster) stop() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil {
		return nil
	}
	var failures []error
	if err := d.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		failures = append(failures, err)
	}
	select {
	case <-d.ended:
	case <-time.After(stopTimeout):
		failures = append(failures, fmt.Errorf("it was still running after %v", stopTimeout), d.process.Kill())
		<-d.ended
	}
	return errors.Join(append(failures, os.RemoveAll(d.folder))...)
}

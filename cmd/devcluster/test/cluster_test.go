// Package test runs the devcluster binary as people do and checks its promises with an
// ordinary client.
package test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// patience is how long a test waits for something that must happen. It is far
// longer than a busy machine needs: only a failing test waits that long.
const patience = 2 * time.Minute

// binary returns the path of a program built by make: in the folder
// $HELMTRAIL_TEST_BIN, by default the repository's bin.
func binary(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("HELMTRAIL_TEST_BIN")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "bin")
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run make build", err)
	}
	return path
}

// process is a running devcluster.
type process struct {
	*exec.Cmd
	kubeconfig string
	stderr     *bytes.Buffer
	output     chan string
}

// launch starts devcluster in a process group of its own and does not wait for
// it. If it is still running when the test ends, it is killed.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{
		Cmd:    exec.Command(binary(t, "devcluster"), args...),
		stderr: new(bytes.Buffer),
		output: make(chan string, 100),
	}
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Stderr = p.stderr
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stdout)
	t.Cleanup(func() {
		if p.ProcessState == nil {
			syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
			p.Wait()
		}
	})
	return p
}

func (p *process) read(stdout io.Reader) {
	defer close(p.output)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		p.output <- lines.Text()
	}
}

// up starts a cluster in dir and waits until it reports that it is ready.
func up(t *testing.T, dir string, more ...string) *process {
	t.Helper()
	p := launch(t, append([]string{"up", "--dir", dir}, more...)...)
	select {
	case line, open := <-p.output:
		kubeconfig, said := strings.CutPrefix(line, "ready ")
		if !open || !said {
			p.Wait()
			t.Fatalf("devcluster printed %q instead of ready, and:\n%s", line, p.stderr)
		}
		p.kubeconfig = kubeconfig
	case <-time.After(patience):
		t.Fatalf("not ready within %v:\n%s", patience, p.stderr)
	}
	return p
}

// stop signals a cluster as a terminal or an init system does. It fails the
// test unless all of its processes end and the exit code is 0.
func (p *process) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended with %v:\n%s", err, p.stderr)
		}
	case <-time.After(patience):
		t.Fatalf("still running %v after %v:\n%s", patience, signal, p.stderr)
	}
	if err := syscall.Kill(-p.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("processes are left in the group: kill says %v", err)
	}
}

func (p *process) client(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually repeats check until it returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.After(patience)
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}

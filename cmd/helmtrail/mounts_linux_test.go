package main

import (
	"bufio"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream/journal/smalldisk"
)

// mountedTrail is a helmtrail as a separate process with mounts of its own, such
// as a small disk that can be filled or a Pod's service account.
type mountedTrail struct {
	*server
	root string // its root directory as seen from this process
	logs *logBuffer
}

// serveMounted runs a shell script and then the program. The script may mount anything:
// nobody else sees it. It needs root, or a kernel that lets every user create
// namespaces.
func serveMounted(t *testing.T, script string, environment, args []string, wait string) mountedTrail {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", append([]string{"-ec", script + "\nexec \"$0\" \"$@\"", self, "serve"}, args...)...)
	command.Env = append(os.Environ(), environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	logs := &logBuffer{}
	command.Stderr = logs
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start a process with mounts of its own: %v", err)
	}
	h := mountedTrail{&server{client: &http.Client{}}, fmt.Sprintf("/proc/%d/root", command.Process.Pid), logs}
	h.stop = sync.OnceFunc(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("serve ended: %v", err)
		}
		h.client.CloseIdleConnections()
		if t.Failed() {
			t.Logf("its log:\n%s", logs)
		}
	})
	t.Cleanup(h.stop)
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("serve said nothing: %v", err)
	}
	h.at(t, line)
	h.waitFor(t, cmp.Or(wait, "/readyz"))
	return h
}

func TestAFullDiskIsReportedAndRecoveredFrom(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	h := serveMounted(t, "mount -t tmpfs -o size=64m tmpfs "+data, nil, []string{
		"--kubeconfig", clustertest.Kubeconfig(t), "--listen", "127.0.0.1:0", "--data-dir", data,
		"--helm", clustertest.Binary(t, "helm4"), "--chart-dir", filepath.Dir(clustertest.Chart(t)),
	}, "")
	namespace := clustertest.Namespace(t)
	install := func(name string) (code int, answer accepted) {
		code = h.call(t, http.MethodPost, h.releases(namespace), object{"name": name, "chart": object{"ref": "web"}}, &answer)
		return code, answer
	}
	code, answer := install("before")
	if code != http.StatusAccepted {
		t.Fatalf("the first install answered %d", code)
	}
	h.events(t.Context(), t, answer.Events, 1)

	fill := smalldisk.Fill(t, filepath.Join(h.root, data))
	eventually(t, "the full disk is reported", func() bool { return strings.Contains(h.notReady(t), syscall.ENOSPC.Error()) })
	if code, _ := install("meanwhile"); code != http.StatusServiceUnavailable {
		t.Errorf("an install on a full disk answered %d", code)
	}

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready again", func() bool { return h.notReady(t) == "" })
	code, answer = install("after")
	if code != http.StatusAccepted {
		t.Fatalf("an install after that answered %d", code)
	}
	if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Errorf("it ended %s: %s", kind, last.Message)
	}
	// The trail also writes to streams that had failed.
	eventually(t, "the trail has it", func() bool {
		var kept struct{ Items []struct{ Name string } }
		return h.call(t, http.MethodGet, h.release(namespace, "after")+"/trail", nil, &kept) == http.StatusOK && len(kept.Items) > 0
	})
}

// /readyz tests the disk at most every five seconds, however often it is called.
// Each test creates and removes a file in the journal's folder.
func TestReadinessTestsTheDiskRarely(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), dataDir: data})
	begun, tries := time.Now(), map[time.Time]bool{}
	for range 500 {
		h.notReady(t) // the result for a slow disk does not matter here
		info, err := os.Stat(filepath.Join(data, journalFolder))
		if err != nil {
			t.Fatal(err)
		}
		tries[info.ModTime()] = true
	}
	// The first change happened before the requests.
	if most := 2 + int(time.Since(begun)/(5*time.Second)); len(tries) > most {
		t.Errorf("the journal's folder changed %d times, want %d at most", len(tries), most)
	}
}

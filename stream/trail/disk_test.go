package trail_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

// smallDisk is the variable that names a folder with little room.
const smallDisk = "HELMTRAIL_TEST_SMALL_DISK"

// What comes while the disk is full waits, which is said, and is stored when
// there is room again.
func TestAFullDiskCostsNothingOfTheTrail(t *testing.T) {
	folder := os.Getenv(smallDisk)
	if folder == "" {
		t.Parallel()
		onSmallDisk(t)
		return
	}
	c := newCluster(t)
	r := start(t, filepath.Join(folder, "journal"), c)
	c.install(state{name: "web"})
	r.settle()
	fill := filepath.Join(folder, "fill")
	file, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<16); len(block) > 0; {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 20; n++ {
		c.upgrade(state{name: "web", number: n, padding: 20 << 10}, 30)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: not in time; %q, %+v", what, r.NotReady(), r.Stats())
			}
		}
	}
	until("it is said", func() bool {
		return len(r.NotReady()) == 1 && strings.Contains(r.NotReady()[0], "cannot be stored") && r.Stats()[0].Waiting > 0
	})
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	until("it is overcome", func() bool { return len(r.NotReady()) == 0 && r.Stats()[0].Waiting == 0 })
	r.settle()
	want := []string{"transition 1 pending-install", "transition 1 deployed"}
	for n := 2; n <= 20; n++ {
		want = append(want, line(entryOf(n, decoder.StatusPendingUpgrade)), line(entryOf(n-1, decoder.StatusSuperseded)), line(entryOf(n, decoder.StatusDeployed)))
	}
	if diff := cmp.Diff(want, r.lines("web")); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if state := r.state(true); !state.Verified {
		t.Errorf("the chain is %+v", state)
	}
	r.end()
	if f := check(t, filepath.Join(folder, "journal")); !f.Verified || f.Records != len(want) {
		t.Errorf("verify finds %+v, want %d records", f, len(want))
	}
}

// onSmallDisk runs the test again in a process that has a small disk of its
// own. It works for root and, where the kernel lets everybody have namespaces,
// for others.
func onSmallDisk(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	command := exec.Command("sh", "-ec", `mount -t tmpfs -o size=8m tmpfs "$1"; exec "$0" -test.run "^$2\$"`, os.Args[0], folder, t.Name())
	command.Env = append(os.Environ(), smallDisk+"="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("on a small disk: %v\n%s", err, output)
	}
}

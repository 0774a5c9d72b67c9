package smalldisk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// variable names the environment variable with the small disk's folder.
const variable = "HELMTRAIL_TEST_SMALL_DISK"

// Folder returns a folder on a disk of 8 MiB. ok is true only in the process
// that Run started.
func Folder() (folder string, ok bool) { return os.LookupEnv(variable) }

// Run runs the test again in a process with a small disk and waits for it. The
// test fails if that process fails. Run needs root, or a kernel that allows
// unprivileged user namespaces.
func Run(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	command := exec.Command("sh", "-ec", `mount -t tmpfs -o size=8m tmpfs "$1"; exec "$0" -test.run "^$2\$"`, os.Args[0], folder, t.Name())
	command.Env = append(os.Environ(), variable+"="+folder)
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

// Fill writes a file to the folder until its disk is full, and returns the
// file's path. Removing the file makes room again.
func Fill(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(folder, "fill")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

package journal_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
)

func TestAClosedJournalIsNotWritable(t *testing.T) {
	j := open(t, t.TempDir())
	if err := j.Writable(); err != nil {
		t.Errorf("an open journal: %v", err)
	}
	closed(t, j)
	journal.Forget(j)
	if err := j.Writable(); err == nil {
		t.Error("a closed journal is said to be writable")
	}
}

// smallDisk is the variable that names a folder with little room.
const smallDisk = "HELMTRAIL_TEST_SMALL_DISK"

// The server inside takes nothing more once a write has failed, not even when
// there is room again, unless its streams are opened anew.
func TestStreamsAreOpenedAnewAfterAFullDisk(t *testing.T) {
	folder := os.Getenv(smallDisk)
	if folder == "" {
		onSmallDisk(t)
		return
	}
	j := open(t, filepath.Join(folder, "journal"))
	defer closed(t, j)
	session := sessionOf("web", "one")
	first, err := j.Append(t.Context(), session, 0, 0, []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(folder, "fill")
	file, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<16); len(block) > 0; {
		if _, err := file.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := j.Append(ctx, session, first, 0, make([]byte, stream.MaxEntry)); err == nil {
		t.Error("a full disk has taken an entry")
	}
	if err := j.Writable(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("of a full disk is said: %v", err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	// Whoever writes next need not know of it.
	second, err := j.Append(t.Context(), session, first, 0, []byte("after"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Writable(); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	if entry, err := j.Next(t.Context(), session, first); err != nil || entry.Position != second || string(entry.Data) != "after" {
		t.Errorf("after the first entry comes %+v, %v", entry, err)
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

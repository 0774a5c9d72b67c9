package helmcli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// helmContent is what helm.json holds: which process helm is. Its start time
// tells it from another process that got the same number later.
type helmContent struct {
	PID     int
	Started string
}

func newHelmContent(pid int) helmContent { return helmContent{PID: pid, Started: startTime(pid)} }

// startTime is when a process began, in the kernel's clock ticks since boot
// (proc_pid_stat(5), field 22), "" when there is no such process.
func startTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in brackets and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const startField = 22 - 3
	if len(fields) <= startField || string(fields[0]) == "Z" {
		return ""
	}
	return string(fields[startField])
}

// runs tells whether helm is still there.
func (h helmContent) runs() bool { return h.Started != "" && startTime(h.PID) == h.Started }

// kill kills what is left of helm's process group.
func (h helmContent) kill() error {
	err := syscall.Kill(-h.PID, syscall.SIGKILL)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill helm: %w", err)
	}
	return nil
}

package helmcli

import (
	"bytes"
	"fmt"
	"os"
)

// startTime returns when a process started, in clock ticks since boot
// (proc_pid_stat(5), field 22), or "" if the process has exited.
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

// terminateOrphan does nothing: the kernel sent SIGTERM to helm when its
// supervisor was killed, see dieWithSupervisor.
func (helmContent) terminateOrphan() error { return nil }

package helmcli

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>: the process has exited and its parent has
// not waited for it.
const zombie = 5

// startTime returns when a process started, in microseconds since 1970, or ""
// if the process has exited.
func startTime(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == zombie {
		return ""
	}
	started := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", started.Sec, started.Usec)
}

// terminateOrphan sends SIGTERM to the process group of a helm whose supervisor
// was killed.
func (h helmContent) terminateOrphan() error {
	if !h.runs() {
		return nil
	}
	if err := syscall.Kill(-h.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop helm: %w", err)
	}
	return nil
}

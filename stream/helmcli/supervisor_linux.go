package helmcli

import (
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithSupervisor has the kernel send SIGTERM to helm when the supervisor is
// killed. The kernel sends the signal when the thread that forked helm ends, so
// the calling goroutine keeps its thread: call it right before Start, from a
// goroutine that outlives helm.
func dieWithSupervisor(helm *exec.Cmd) {
	runtime.LockOSThread()
	helm.SysProcAttr.Pdeathsig = syscall.SIGTERM
}

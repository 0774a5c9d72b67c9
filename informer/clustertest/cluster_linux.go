package clustertest

import (
	"os/exec"
	"syscall"
)

// endWithTests makes the kernel stop the dev cluster when the test process ends for any
// reason.
func endWithTests(cluster *exec.Cmd) {
	cluster.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

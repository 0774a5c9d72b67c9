package clustertest

import (
	"os/exec"
	"syscall"
)

// endWithTests has the kernel stop the dev cluster when the test process ends,
// however it ends.
func endWithTests(cluster *exec.Cmd) {
	cluster.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

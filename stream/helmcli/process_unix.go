//go:build linux || darwin

package helmcli

import (
	"os/exec"
	"syscall"
)

// detach makes the command start in a process session of its own, so that it
// survives helmtrail and its terminal.
func detach(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

//go:build linux || darwin

package helmcli

import (
	"errors"
	"fmt"
	"syscall"
)

// kill kills the processes that are left in helm's process group.
func (h helmContent) kill() error {
	if err := syscall.Kill(-h.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill helm: %w", err)
	}
	return nil
}

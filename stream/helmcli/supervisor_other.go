//go:build !linux && !darwin

package helmcli

import (
	"fmt"
	"runtime"
)

// CheckPlatform reports whether helm can be supervised on this operating
// system. It cannot.
func CheckPlatform() error {
	return fmt.Errorf("serve needs Linux or macOS: on %s, run it in WSL 2 or in a container", runtime.GOOS)
}

// Supervise fails as CheckPlatform does.
func Supervise(string) error { return CheckPlatform() }

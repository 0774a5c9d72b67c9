//go:build !linux && !darwin

package helmcli

import "os/exec"

// detach does nothing: no supervisor is started here, see CheckPlatform.
func detach(*exec.Cmd) {}

//go:build !linux

package clustertest

import "os/exec"

// endWithTests does nothing: the dev cluster runs on Linux only.
func endWithTests(*exec.Cmd) {}

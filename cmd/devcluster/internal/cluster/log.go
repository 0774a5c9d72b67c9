package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

// divert redirects the process's standard error to a file and keeps the file of
// the previous run. Kubernetes components log in many ways, some set up before
// main, but all write to standard error. A crash is also reported on the terminal.
func divert(name string, terminal *os.File, verbosity int) error {
	if err := os.Rename(name, name+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the old log: %w", err)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer file.Close()
	if err := debug.SetCrashOutput(terminal, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("report crashes: %w", err)
	}
	if err := unix.Dup2(int(file.Fd()), int(os.Stderr.Fd())); err != nil {
		return fmt.Errorf("send the components' log to %s: %w", name, err)
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(verbosity)); err != nil {
		return fmt.Errorf("set the log's verbosity: %w", err)
	}
	// A crash must not leave the terminal silent.
	klog.OsExit = func(code int) {
		fmt.Fprintln(terminal, "devcluster: a component gave up; the reason is in", name)
		os.Exit(code)
	}
	return nil
}

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/cluster"
)

// clusterFlags are those that every command which runs a cluster has.
type clusterFlags struct {
	dir       string
	name      string
	port      int
	verbosity int
}

func (f *clusterFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.dir, "dir", "", "folder that keeps the cluster (required)")
	set.StringVar(&f.name, "name", "", "name of the kubeconfig's context (default: as before, or "+cluster.DefaultName+")")
	set.IntVar(&f.port, "port", 0, "port of the API server (default: as before, or a free one)")
	set.IntVar(&f.verbosity, "v", 0, "verbosity of the components' log")
}

func parse(set *flag.FlagSet, args []string, stderr io.Writer) error {
	set.SetOutput(stderr)
	if err := set.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return err
		}
		return usageError(err.Error())
	}
	if set.NArg() > 0 {
		return usageError(fmt.Sprintf("unexpected argument %q", set.Arg(0)))
	}
	return nil
}

// up runs a cluster until ctx is done.
func up(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	var flags clusterFlags
	set := flag.NewFlagSet("devcluster up", flag.ContinueOnError)
	flags.register(set)
	if err := parse(set, args, stderr); err != nil {
		return err
	}
	return flags.run(ctx, stderr, func(kubeconfig string) {
		fmt.Fprintln(stdout, "ready", kubeconfig)
	})
}

// run runs the cluster that the flags describe and tells the terminal how it
// goes. What its components log goes to a file in its folder.
func (f clusterFlags) run(ctx context.Context, stderr *os.File, ready func(kubeconfig string)) error {
	if f.dir == "" {
		return usageError("--dir is required")
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	logName := filepath.Join(dir, "devcluster.log")
	terminal, err := divert(stderr, logName)
	if err != nil {
		return fmt.Errorf("open log %s: %w", logName, err)
	}
	klogFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(klogFlags)
	if err := klogFlags.Set("v", fmt.Sprint(f.verbosity)); err != nil {
		return err
	}
	// A component that gives up must not leave a silent terminal behind.
	klog.OsExit = func(code int) {
		fmt.Fprintln(terminal, "devcluster: a component gave up; the reason is in", logName)
		os.Exit(code)
	}
	err = cluster.Run(ctx, cluster.Options{
		Dir:      dir,
		Name:     f.name,
		Port:     f.port,
		Progress: terminal,
		Log:      stderr,
		Ready:    ready,
	})
	if err != nil {
		fmt.Fprintln(terminal, "devcluster:", err)
		fmt.Fprintln(terminal, "devcluster: the components' log is", logName)
	}
	return err
}

// divert sends what is written to the process's standard error to a file: a
// Kubernetes component has many ways to log, some of them set up before main.
// It returns the terminal, where a crash is still reported.
func divert(stderr *os.File, name string) (terminal *os.File, err error) {
	if err := os.Rename(name, name+".1"); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fd, err := unix.FcntlInt(stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	terminal = os.NewFile(uintptr(fd), stderr.Name())
	if err := debug.SetCrashOutput(terminal, debug.CrashOptions{}); err != nil {
		return nil, err
	}
	return terminal, unix.Dup2(int(file.Fd()), int(stderr.Fd()))
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/cluster"
)

// clusterFlags are the flags of all commands that run a cluster.
type clusterFlags struct {
	dir       string
	name      string
	port      int
	verbosity int
}

func (f *clusterFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.dir, "dir", "", "directory of the cluster's files")
	set.StringVar(&f.name, "name", "", "name of the kubeconfig's context (default: as before, or "+cluster.DefaultName+")")
	set.IntVar(&f.port, "port", 0, "port of the API server (default: as before, or a free one)")
	set.IntVar(&f.verbosity, "v", 0, "verbosity of the components' log")
}

func parse(set *flag.FlagSet, args []string, stderr io.Writer) error {
	set.SetOutput(stderr)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return usageError(err.Error())
	case set.NArg() > 0:
		return usageError(fmt.Sprintf("unexpected argument %q", set.Arg(0)))
	}
	return nil
}

// up runs a cluster until ctx is done.
func up(ctx context.Context, args []string, stdout io.Writer, terminal *os.File) error {
	var flags clusterFlags
	set := flag.NewFlagSet("devcluster up", flag.ContinueOnError)
	flags.register(set)
	if err := parse(set, args, terminal); err != nil {
		return err
	}
	if flags.dir == "" {
		return usageError("--dir is required")
	}
	return flags.run(ctx, terminal, func(kubeconfig string) {
		fmt.Fprintln(stdout, "ready", kubeconfig)
	})
}

// run runs the cluster that the flags describe.
func (f clusterFlags) run(ctx context.Context, terminal *os.File, ready func(kubeconfig string)) error {
	// Components keep paths, which must not depend on the working directory.
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	return cluster.Run(ctx, cluster.Options{
		Dir:       dir,
		Name:      f.name,
		Port:      f.port,
		Verbosity: f.verbosity,
		Terminal:  terminal,
		Ready:     ready,
	})
}

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/cmd/devcluster/internal/demo"
)

// runDemo runs a cluster with helmtrail and sample releases until ctx is done, and
// stops them in reverse order. Without --dir it removes its files in the end.
func runDemo(ctx context.Context, args []string, stdout io.Writer, terminal *os.File) (err error) {
	var flags clusterFlags
	o := demo.Options{Out: stdout}
	set := flag.NewFlagSet("devcluster demo", flag.ContinueOnError)
	flags.register(set)
	set.StringVar(&o.Helmtrail, "helmtrail", "bin/helmtrail", "helmtrail program to run")
	set.StringVar(&o.Helm, "helm", "bin/helm4", "helm program for helmtrail")
	set.StringVar(&o.Charts, "charts", "deploy/demo/charts", "directory of the sample charts")
	set.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address of helmtrail; a free port is used if this one is taken")
	if err := parse(set, args, terminal); err != nil {
		return err
	}
	if flags.dir == "" {
		if flags.dir, err = os.MkdirTemp("", "helmtrail-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(flags.dir)) }()
	}
	if o.Dir, err = filepath.Abs(flags.dir); err != nil {
		return err
	}

	// The cluster outlives ctx until helmtrail has stopped.
	clusterContext, stopCluster := context.WithCancel(context.WithoutCancel(ctx))
	defer stopCluster()
	ready := make(chan string, 1)
	var parts errgroup.Group
	parts.Go(func() error {
		defer close(ready)
		return flags.run(clusterContext, terminal, func(kubeconfig string) { ready <- kubeconfig })
	})
	parts.Go(func() error {
		defer stopCluster()
		select {
		case <-ctx.Done():
			return nil
		case kubeconfig, ok := <-ready:
			if !ok {
				return nil // the cluster's error says why
			}
			return demo.Run(ctx, o, kubeconfig)
		}
	})
	return parts.Wait()
}

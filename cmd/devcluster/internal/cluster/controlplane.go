package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// controlPlane holds the options of the API server and the scheduler. They run
// without their cobra commands, which call os.Exit and install a signal handler,
// which is possible only once in a process.
type controlPlane struct {
	server    *apiserveroptions.ServerRunOptions
	scheduler *scheduleroptions.Options
}

// newControlPlane returns default options. Call it once in a process: the
// components share one registry of feature gates, and each must be registered
// before the gates are set.
func newControlPlane() (*controlPlane, error) {
	plane := &controlPlane{
		server:    apiserveroptions.NewServerRunOptions(),
		scheduler: scheduleroptions.NewOptions(),
	}
	if err := compatibility.DefaultComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("set feature gates: %w", err)
	}
	// The components watch deprecated APIs too and would log a warning each time.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	return plane, nil
}

// runAPIServer serves on listener. It blocks until ctx is done and all requests
// have ended.
func (p *controlPlane) runAPIServer(ctx context.Context, listener net.Listener, flags []string) error {
	if err := parse("kube-apiserver", p.server.Flags(), flags); err != nil {
		return err
	}
	p.server.SecureServing.Listener = listener
	completed, err := p.server.Complete(ctx)
	if err != nil {
		return fmt.Errorf("kube-apiserver options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("kube-apiserver options: %w", utilerrors.NewAggregate(errs))
	}
	if err := apiserver.Run(ctx, completed); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return endedEarly(ctx, "kube-apiserver")
}

// runScheduler assigns pods to the node until ctx is done.
func (p *controlPlane) runScheduler(ctx context.Context, flags []string) error {
	if err := parse("kube-scheduler", *p.scheduler.Flags, flags); err != nil {
		return err
	}
	config, instance, err := scheduler.Setup(ctx, p.scheduler)
	if err != nil {
		return fmt.Errorf("kube-scheduler options: %w", err)
	}
	// The scheduler returns an error even after an orderly end.
	if err := scheduler.Run(ctx, config, instance); err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-scheduler: %w", err)
	}
	return endedEarly(ctx, "kube-scheduler")
}

func endedEarly(ctx context.Context, component string) error {
	if ctx.Err() != nil {
		return nil
	}
	return errors.New(component + " ended by itself")
}

func parse(component string, named cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet(component, pflag.ContinueOnError)
	for _, set := range named.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(args); err != nil {
		return fmt.Errorf("%s flags: %w", component, err)
	}
	return nil
}

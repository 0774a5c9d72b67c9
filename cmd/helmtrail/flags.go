package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/helmcli"
	"github.com/helmtrail/helmtrail/web"
)

// usageError is a mistake in flags or arguments.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func asUsage(err error, target **usageError) bool { return errors.As(err, target) }

// serveOptions are the flags of serve.
type serveOptions struct {
	kubeconfig    string
	contexts      []string
	listen        string
	helm          string
	helmEnv       []string
	dataDir       string
	chartDir      string
	repos         []string
	auth          string
	clusters      []string
	defaultID     string
	inCluster     bool
	namespaces    []string
	hosts         []string
	basePath      string
	tlsCert       string
	tlsKey        string
	pprof         string
	maxOperations int
	drain         time.Duration
	onStop        string
	stuckAfter    time.Duration
	trailKeep     time.Duration
	maskKey       []byte // no flag; read from dataDir
	trailSize     string
	logFormat     string
	logLevel      string
}

const (
	authNone       = "none"
	authKubernetes = "kubernetes"

	onStopEnd   = "end"
	onStopLeave = "leave"
)

func defaultServeOptions() serveOptions {
	return serveOptions{
		listen:        "127.0.0.1:8080",
		helm:          "helm",
		dataDir:       defaultDataDir(),
		auth:          "",
		maxOperations: stream.DefaultMaxOperations,
		drain:         25 * time.Second,
		onStop:        onStopEnd,
		stuckAfter:    stream.DefaultStuckAfter,
		logFormat:     "text",
		logLevel:      "info",
	}
}

// defaultDataDir is where the XDG Base Directory Specification keeps a user's
// data, "" when there is no home.
func defaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "helmtrail")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "helmtrail")
}

func (o *serveOptions) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "kubeconfig `file`; by default what kubectl takes, or the Pod's service account")
	flags.StringSliceVar(&o.contexts, "context", o.contexts, "contexts of the kubeconfig to watch, one cluster each; by default all, the current one first")
	flags.StringArrayVar(&o.clusters, "cluster", o.clusters, "a cluster to watch, as `id=kubeconfig`, of which the current context counts; may be repeated, and stands for --kubeconfig if that is not given")
	flags.StringVar(&o.defaultID, "default-cluster", o.defaultID, "`id` of the cluster that addresses mean which name none, such as those of the OpenShift console (/api/helm); by default the first")
	flags.BoolVar(&o.inCluster, "in-cluster", o.inCluster, "watch the cluster of this Pod with its service account")
	flags.StringSliceVar(&o.namespaces, "namespaces", o.namespaces, "the namespaces to watch, where there is no right to watch all")
	flags.StringVar(&o.listen, "listen", o.listen, "`address` to serve on; port 0 takes a free one")
	flags.StringVar(&o.helm, "helm", o.helm, "the helm to run, version 3 or 4: a `path`, or a name to look up in PATH")
	flags.StringArrayVar(&o.helmEnv, "helm-env", o.helmEnv, "a further `KEY=value` for helm's environment; may be repeated")
	flags.StringVar(&o.dataDir, "data-dir", o.dataDir, "`folder` for sessions and their events")
	flags.StringVar(&o.chartDir, "chart-dir", o.chartDir, "`folder` with charts that can be named without a repository")
	flags.StringSliceVar(&o.repos, "repo", o.repos, "a chart repository to offer, as `name=URL`; may be repeated")
	flags.StringSliceVar(&o.hosts, "host", o.hosts, "further host names to answer to with --auth=none")
	flags.StringVar(&o.basePath, "base-path", o.basePath, "the `path` below which a proxy shows helmtrail, pages included, such as /helmtrail")
	flags.StringVar(&o.tlsCert, "tls-cert", o.tlsCert, "`file` with the certificate to serve with, and those that it is signed by; read again when it changes")
	flags.StringVar(&o.tlsKey, "tls-key", o.tlsKey, "`file` with the certificate's key")
	flags.StringVar(&o.pprof, "pprof", o.pprof, "loopback `address` to serve Go's profiles on; by default nowhere")
	flags.StringVar(&o.auth, "auth", o.auth, "who may use it: none (everybody who reaches it; loopback addresses only, where it is the default) or kubernetes (whoever has a token of the cluster, as far as RBAC lets them; the default elsewhere)")
	flags.IntVar(&o.maxOperations, "max-operations", o.maxOperations, "how many operations may run at once")
	flags.DurationVar(&o.drain, "drain", o.drain, "how long running operations may go on after SIGTERM before helm is ended")
	flags.StringVar(&o.onStop, "on-stop", o.onStop, "what becomes of operations that run after that: end, or leave them to the next helmtrail on the same --data-dir")
	flags.DurationVar(&o.stuckAfter, "stuck-after", o.stuckAfter, "how old a pending status that somebody else left must be before a release counts as stuck")
	flags.DurationVar(&o.trailKeep, "trail-keep", o.trailKeep, "how long to keep the records of revisions that are gone from their cluster; 0 for ever")
	flags.StringVar(&o.trailSize, "trail-size", o.trailSize, "how much of records to keep, such as `20Gi`, beyond which those of revisions that are gone are removed, oldest first; by default any amount")
	flags.StringVar(&o.logFormat, "log-format", o.logFormat, "text or json")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")
}

// environmentName is the variable that stands for a flag.
func environmentName(flag string) string {
	return "HELMTRAIL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that were not given from their variables.
func fromEnvironment(c *cobra.Command) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := os.LookupEnv(environmentName(f.Name))
		if !ok || f.Changed || err != nil {
			return
		}
		if setErr := c.Flags().Set(f.Name, value); setErr != nil {
			err = &usageError{c.Name(), fmt.Errorf("--%s (from %s): %w", f.Name, environmentName(f.Name), setErr)}
		}
	})
	return err
}

// validate completes the options and refuses what cannot work. Its errors name
// the flag.
func (o *serveOptions) validate() error {
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen %q: must be HOST:PORT: %w", o.listen, err)
	}
	local := loopback(host)
	switch {
	case o.auth == "" && local:
		o.auth = authNone
	case o.auth == "":
		o.auth = authKubernetes
	}
	switch o.auth {
	case authNone:
		if !local {
			return fmt.Errorf("--auth=none: everybody who can reach %s could use every right of helmtrail; it is allowed on a loopback address only, such as --listen 127.0.0.1:8080", o.listen)
		}
	case authKubernetes:
	default:
		return fmt.Errorf("--auth %q: must be none or kubernetes", o.auth)
	}
	if err := o.validateServing(); err != nil {
		return err
	}
	if o.dataDir == "" {
		return errors.New("--data-dir: name a folder, since there is no home directory for the default")
	}
	if o.maxOperations < 1 {
		return fmt.Errorf("--max-operations %d: must be 1 or more", o.maxOperations)
	}
	if o.drain < 0 {
		return fmt.Errorf("--drain %v: must be 0 or more", o.drain)
	}
	if o.onStop != onStopEnd && o.onStop != onStopLeave {
		return fmt.Errorf("--on-stop %q: must be end or leave", o.onStop)
	}
	if o.stuckAfter <= 0 {
		return fmt.Errorf("--stuck-after %v: must be more than 0", o.stuckAfter)
	}
	if o.trailKeep < 0 {
		return fmt.Errorf("--trail-keep %v: must be 0 or more", o.trailKeep)
	}
	if _, err := o.trailBytes(); err != nil {
		return err
	}
	for _, pair := range o.helmEnv {
		if key, _, ok := strings.Cut(pair, "="); !ok || key == "" {
			return errors.New("--helm-env: must be KEY=value")
		}
	}
	if o.chartDir != "" {
		if info, err := os.Stat(o.chartDir); err != nil || !info.IsDir() {
			return fmt.Errorf("--chart-dir %s: is not a folder", o.chartDir)
		}
	}
	_, err = o.repositories()
	return err
}

// validateServing checks how it is served.
func (o *serveOptions) validateServing() error {
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return errors.New("--tls-cert, --tls-key: one needs the other")
	}
	if o.basePath != "" {
		o.basePath = strings.TrimSuffix(o.basePath, "/")
		if !basePathPattern.MatchString(o.basePath) {
			return fmt.Errorf("--base-path %q: must be a path such as /helmtrail", o.basePath)
		}
		if err := web.CheckBasePath(o.basePath); err != nil {
			return fmt.Errorf("--base-path %q: %w", o.basePath, err)
		}
	}
	if o.pprof != "" {
		if host, _, err := net.SplitHostPort(o.pprof); err != nil || !loopback(host) {
			return fmt.Errorf("--pprof %q: must be HOST:PORT with a loopback address", o.pprof)
		}
	}
	for _, pair := range o.clusters {
		if id, path, ok := strings.Cut(pair, "="); !ok || id == "" || path == "" {
			return fmt.Errorf("--cluster %q: must be id=kubeconfig", pair)
		}
	}
	return nil
}

var basePathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// clusterOptions are the clusters to watch.
func (o *serveOptions) clusterOptions(logger *slog.Logger) informer.Options {
	options := informer.Options{
		Kubeconfig: o.kubeconfig, Contexts: o.contexts, InCluster: o.inCluster, Namespaces: o.namespaces, MaskKey: o.maskKey, Log: logger,
	}
	for _, pair := range o.clusters {
		id, path, _ := strings.Cut(pair, "=")
		options.Files = append(options.Files, informer.File{ID: id, Path: path})
	}
	return options
}

// repositories are the chart repositories to offer.
func (o *serveOptions) repositories() ([]helmcli.Repository, error) {
	var list []helmcli.Repository
	for _, pair := range o.repos {
		name, address, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, errors.New("--repo: must be name=URL")
		}
		r := helmcli.Repository{Name: name, URL: address}
		if err := helmcli.CheckRepository(r); err != nil {
			return nil, fmt.Errorf("--repo %s: %w", name, err)
		}
		if slices.ContainsFunc(list, func(other helmcli.Repository) bool { return other.Name == name }) {
			return nil, fmt.Errorf("--repo %s: the name is given twice", name)
		}
		list = append(list, r)
	}
	return list, nil
}

// loopback tells whether only this machine can reach the host.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

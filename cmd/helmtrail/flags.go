package main

import (
	"cmp"
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
	"github.com/helmtrail/helmtrail/stream/repository"
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
	kubeconfig string
	contexts   []string
	listen     string
	helm       string
	helmEnv    []string
	dataDir    string
	chartDir   string
	repos      []string
	chartHosts []string
	auth       string
	clusters   []string
	defaultID  string
	inCluster  bool
	namespaces []string
	hosts      []string
	basePath   string
	tlsCert    string
	tlsKey     string
	pprof      string
	quotas     stream.Quotas
	drain      time.Duration
	onStop     string
	stuckAfter time.Duration
	trailKeep  time.Duration
	maskKey    []byte // no flag; read from dataDir
	trailSize  string
	logFormat  string
	logLevel   string
}

const (
	authNone       = "none"
	authKubernetes = "kubernetes"

	// defaultMaxDeadline allows an hour's timeout with a rollback on failure.
	defaultMaxDeadline = 3 * time.Hour

	onStopEnd   = "end"
	onStopLeave = "leave"
)

func defaultServeOptions() serveOptions {
	return serveOptions{
		listen:     "127.0.0.1:8080",
		helm:       "helm",
		dataDir:    defaultDataDir(),
		auth:       "",
		quotas:     stream.Quotas{Operations: stream.DefaultMaxOperations, Deadline: defaultMaxDeadline},
		drain:      25 * time.Second,
		onStop:     onStopEnd,
		stuckAfter: stream.DefaultStuckAfter,
		logFormat:  "text",
		logLevel:   "info",
	}
}

// defaultDataDir returns helmtrail's directory below the user's data directory, as
// the XDG Base Directory Specification defines it, or "" without a home directory.
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
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "path of the kubeconfig `file`; default: as kubectl, or the Pod's service account")
	flags.StringSliceVar(&o.contexts, "context", o.contexts, "kubeconfig contexts to watch, one cluster each; default: all, the current one first")
	flags.StringArrayVar(&o.clusters, "cluster", o.clusters, "a cluster to watch, as `id=kubeconfig`, using its current context; may be repeated; replaces the default kubeconfig")
	flags.StringVar(&o.defaultID, "default-cluster", o.defaultID, "`id` of the cluster for URLs that name none, such as /api/helm; default: the first")
	flags.BoolVar(&o.inCluster, "in-cluster", o.inCluster, "watch the cluster that this Pod runs in, with its service account")
	flags.StringSliceVar(&o.namespaces, "namespaces", o.namespaces, "namespaces to watch, if you may not watch all of them")
	flags.StringVar(&o.listen, "listen", o.listen, "`address` to listen on; port 0 chooses a free port")
	flags.StringVar(&o.helm, "helm", o.helm, "helm 3 or 4 program: a `path`, or a name to look up in PATH")
	flags.StringArrayVar(&o.helmEnv, "helm-env", o.helmEnv, "environment variable for helm, as `KEY=value`; may be repeated")
	flags.StringVar(&o.dataDir, "data-dir", o.dataDir, "`directory` for sessions, events and the trail")
	flags.StringVar(&o.chartDir, "chart-dir", o.chartDir, "`directory` with charts that need no repository")
	flags.StringSliceVar(&o.repos, "repo", o.repos, "chart repository for the catalog, as `name=URL`; may be repeated")
	flags.StringSliceVar(&o.chartHosts, "chart-hosts", o.chartHosts, "`hosts` that charts may be fetched from beside those of --repo: HOST, HOST:PORT or *.DOMAIN, also with a private address, or * for every public address; default: * with --auth=none, otherwise none")
	flags.StringSliceVar(&o.hosts, "host", o.hosts, "additional host names to accept in requests with --auth=none")
	flags.StringVar(&o.basePath, "base-path", o.basePath, "URL `path` prefix if a proxy serves helmtrail below one, such as /helmtrail")
	flags.StringVar(&o.tlsCert, "tls-cert", o.tlsCert, "`file` with the TLS certificate chain; reloaded when it changes")
	flags.StringVar(&o.tlsKey, "tls-key", o.tlsKey, "`file` with the private key of --tls-cert")
	flags.StringVar(&o.pprof, "pprof", o.pprof, "loopback `address` to serve Go profiles on; default: disabled")
	flags.StringVar(&o.auth, "auth", o.auth, "authentication: none (anyone who can connect; only on loopback addresses, where it is the default) or kubernetes (users with a cluster token, limited by RBAC; the default elsewhere)")
	flags.IntVar(&o.quotas.Operations, "max-operations", o.quotas.Operations, "maximum number of installs and upgrades that run at once; rollbacks, uninstalls and recoveries get a fifth more, at least one")
	flags.IntVar(&o.quotas.PerNamespace, "max-operations-per-namespace", o.quotas.PerNamespace, "the same limit for each namespace of a cluster; default: a quarter of --max-operations with --auth=kubernetes, otherwise none")
	flags.IntVar(&o.quotas.PerUser, "max-operations-per-user", o.quotas.PerUser, "the same limit for each user of a cluster; default: a quarter of --max-operations with --auth=kubernetes, otherwise none")
	flags.DurationVar(&o.quotas.Deadline, "max-deadline", o.quotas.Deadline, "largest deadline of an operation")
	flags.DurationVar(&o.drain, "drain", o.drain, "how long to wait for running operations after SIGTERM")
	flags.StringVar(&o.onStop, "on-stop", o.onStop, "what to do with operations that still run after --drain: end (stop helm), or leave (the next helmtrail with the same --data-dir takes over)")
	flags.DurationVar(&o.stuckAfter, "stuck-after", o.stuckAfter, "age of a pending status left by another client after which a release counts as stuck")
	flags.DurationVar(&o.trailKeep, "trail-keep", o.trailKeep, "how long to keep records of revisions that are no longer in their cluster; 0 keeps them forever")
	flags.StringVar(&o.trailSize, "trail-size", o.trailSize, "maximum `size` of stored records, such as 20Gi; beyond it, records of revisions that are no longer in their cluster are erased, oldest first; default: unlimited")
	flags.StringVar(&o.logFormat, "log-format", o.logFormat, "log format: text or json")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "lowest level to log: debug, info, warn or error")
}

// environmentName returns the name of the environment variable for a flag.
func environmentName(flag string) string {
	return "HELMTRAIL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets flags that were not given from environment variables.
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

// validate completes the options and rejects invalid ones. Errors name the flag.
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
			return fmt.Errorf("--auth=none: anyone who can connect to %s would have all of helmtrail's permissions; use a loopback address, such as --listen 127.0.0.1:8080", o.listen)
		}
	case authKubernetes:
	default:
		return fmt.Errorf("--auth %q: must be none or kubernetes", o.auth)
	}
	if err := o.validateServing(); err != nil {
		return err
	}
	if o.dataDir == "" {
		return errors.New("--data-dir: required, since there is no home directory")
	}
	if err := o.validateQuotas(); err != nil {
		return err
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
			return fmt.Errorf("--chart-dir %s: not a directory", o.chartDir)
		}
	}
	if _, err := o.allowedHosts(); err != nil {
		return err
	}
	_, err = o.repositories()
	return err
}

// validateQuotas checks the quotas and sets their defaults. If callers log in, no
// user and no namespace gets more than a quarter of the places by default.
func (o *serveOptions) validateQuotas() error {
	q := &o.quotas
	switch {
	case q.Operations < 1:
		return fmt.Errorf("--max-operations %d: must be 1 or more", q.Operations)
	case q.PerNamespace < 0:
		return fmt.Errorf("--max-operations-per-namespace %d: must be 1 or more", q.PerNamespace)
	case q.PerUser < 0:
		return fmt.Errorf("--max-operations-per-user %d: must be 1 or more", q.PerUser)
	case q.Deadline < time.Minute:
		return fmt.Errorf("--max-deadline %v: must be 1m or more", q.Deadline)
	}
	if share := (q.Operations + 3) / 4; o.auth == authKubernetes {
		q.PerNamespace = cmp.Or(q.PerNamespace, share)
		q.PerUser = cmp.Or(q.PerUser, share)
	}
	return nil
}

// validateServing checks the flags about addresses, TLS and clusters.
func (o *serveOptions) validateServing() error {
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return errors.New("--tls-cert, --tls-key: must be given together")
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

// clusterOptions returns the clusters to watch.
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

// repositories returns the chart repositories for the catalog.
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
			return nil, fmt.Errorf("--repo %s: duplicate name", name)
		}
		list = append(list, r)
	}
	return list, nil
}

// allowedHosts returns the hosts that charts may be fetched from.
func (o *serveOptions) allowedHosts() (repository.Hosts, error) {
	entries := o.chartHosts
	if entries == nil && o.auth == authNone {
		entries = []string{"*"}
	}
	hosts, err := repository.ParseHosts(entries)
	if err != nil {
		return hosts, fmt.Errorf("--chart-hosts: %w", err)
	}
	return hosts, nil
}

// loopback reports whether only this machine can connect to the host.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

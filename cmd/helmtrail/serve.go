package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/helmcli"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
	"github.com/helmtrail/helmtrail/stream/uploads"
	"github.com/helmtrail/helmtrail/web"
	"github.com/helmtrail/helmtrail/web/ui"
)

func newServe(stdout, stderr io.Writer) *cobra.Command {
	o := defaultServeOptions()
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the pages and the API",
		Long: `Serve the pages and the API until SIGTERM or Ctrl-C, which waits for running
operations (--drain) and then ends them.

Each flag can also be given as an environment variable: --data-dir as
HELMTRAIL_DATA_DIR, and so on.`,
		Example: `  helmtrail serve
  helmtrail serve --context staging,production --chart-dir ./charts`,
		Args: noArguments,
		PreRunE: func(c *cobra.Command, _ []string) error {
			if err := helmcli.CheckPlatform(); err != nil {
				return err
			}
			if err := fromEnvironment(c); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return &usageError{c.Name(), err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			logger, err := newLogger(stderr, o)
			if err != nil {
				return &usageError{c.Name(), err}
			}
			slog.SetDefault(logger)
			return serve(c.Context(), o, stdout, logger)
		},
	}
	o.register(c.Flags())
	return c
}

func newLogger(w io.Writer, o serveOptions) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: must be debug, info, warn or error", o.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: must be text or json", o.logFormat)
}

// serve wires the parts together, runs them and blocks until ctx ends and all of
// them have stopped, the last one started first.
func serve(ctx context.Context, o serveOptions, stdout io.Writer, logger *slog.Logger) (err error) {
	var cleanups cleanups
	defer func() { err = errors.Join(err, cleanups.run()) }()
	forbidCoreDumps()
	if err := openDataDir(o.dataDir, logger); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	if o.maskKey, err = maskKey(o.dataDir); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	clusters, err := informer.Open(o.clusterOptions(logger))
	if err != nil {
		return fmt.Errorf("--kubeconfig, --context, --cluster: %w", err)
	}
	fleet := &fleet{clusters: clusters}
	if _, ok := fleet.find(o.defaultID); !ok && o.defaultID != "" {
		return fmt.Errorf("--default-cluster %q: is none of the clusters, which are %s", o.defaultID, strings.Join(fleet.ids(), ", "))
	}
	var certificate *certificate
	if o.tlsCert != "" {
		if certificate, err = loadCertificate(o.tlsCert, o.tlsKey, logger); err != nil {
			return fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	cleanups.add("close the listener", closeListener(listener))
	servers := []served{{listener: listener, certificate: certificate}}
	if o.pprof != "" {
		profiling, err := net.Listen("tcp", o.pprof)
		if err != nil {
			return fmt.Errorf("--pprof: %w", err)
		}
		cleanups.add("close the listener of --pprof", closeListener(profiling))
		servers = append(servers, served{server: newHTTPServer(profiles(), logger), listener: profiling})
	}
	kept, err := journal.Open(ctx, filepath.Join(o.dataDir, journalFolder), trail.GuardedStream)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	cleanups.add("close the journal", kept.Close)
	for _, damage := range kept.Damage() {
		logger.Error("the journal is damaged; messages after this position of the file may be lost", "stream", damage.Stream,
			"file", damage.File, "byte", damage.Offset, "problem", damage.Problem, "copy", damage.Copy)
	}
	helm, err := openHelm(ctx, o, logger)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	operations := stream.NewOperations(stream.Setup{
		Meter: newMeter(registry), Journal: kept, Helm: helm, Cluster: fleet.find,
		Quotas: o.quotas, Drain: o.drain, LeaveOnStop: o.onStop == onStopLeave,
		SignIn: o.auth == authKubernetes, StuckAfter: o.stuckAfter, MaskKey: o.maskKey, Logger: logger,
	})
	if err := operations.Resume(ctx); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	entries, err := openTrail(ctx, o, kept, clusters, operations, logger)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	show := func(c *informer.Cluster) web.Cluster { return webCluster(c, helm, o.auth) }
	server, err := web.New(web.Options{
		DefaultCluster: o.defaultID,

		Clusters: shown(clusters, show), Operations: operations, Trail: entries, Charts: helm, Archives: helm, Pages: ui.Files(),
		NotReady: func() []string { return append(notReady(ctx, kept), entries.NotReady()...) }, LocalOnly: o.auth == authNone, Hosts: o.hosts, BasePath: o.basePath, Metrics: registry, MaskKey: o.maskKey, MayReveal: mayReveal(o.auth), Logger: logger,
	})
	if err != nil {
		return err
	}
	if err := registry.Register(&measured{operations: operations, fleet: fleet, trail: entries, journal: kept, dataDir: filepath.Join(o.dataDir, journalFolder)}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	servers[0].server = newHTTPServer(server, logger)
	servers[0].server.RegisterOnShutdown(func() { _ = server.Close() }) // it never fails
	scheme := "http"
	if certificate != nil {
		scheme = "https"
	} else if o.auth == authKubernetes {
		logger.Warn("tokens are sent over plain HTTP; set --tls-cert and --tls-key, or terminate TLS in a proxy")
	}
	fmt.Fprintf(stdout, "helmtrail %s serves %s://%s%s/helm/releases\n", version, scheme, listener.Addr(), o.basePath)
	watches := &watching{fleet: fleet, operations: operations, server: server, trail: entries, show: show, logger: logger, watches: map[*informer.Cluster]clusterWatch{}}
	return runParts(ctx, watches, o.clusterOptions(logger), servers)
}

// notReady returns the reasons why no operation can be started: the server is
// stopping, or the journal cannot be written.
func notReady(ctx context.Context, kept *journal.Journal) (reasons []string) {
	if ctx.Err() != nil {
		reasons = append(reasons, "The server is stopping.")
	}
	if err := kept.Writable(); err != nil {
		reasons = append(reasons, fmt.Sprintf("What happens cannot be kept: %v.", err))
	}
	return reasons
}

// mayReveal decides who may see secrets unmasked. Without a login, everybody who
// can reach the server could read them with helmtrail's own rights anyway.
func mayReveal(auth string) func(helmtrail.ReleaseRef) error {
	if auth != authNone {
		return nil
	}
	return func(helmtrail.ReleaseRef) error { return nil }
}

// executable returns the path of this program. It is a variable because the test
// binary, which has the race detector, takes four times as long to start.
var executable = os.Executable

// openHelm finds the installed helm. The supervisor is this same program.
func openHelm(ctx context.Context, o serveOptions, logger *slog.Logger) (*helmcli.Helm, error) {
	self, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to run supervisors: %w", err)
	}
	repositories, err := o.repositories()
	if err != nil {
		return nil, err
	}
	hosts, err := o.allowedHosts()
	if err != nil {
		return nil, err
	}
	uploaded, err := uploads.Open(filepath.Join(o.dataDir, "charts"), uploads.DefaultLimits)
	if err != nil {
		return nil, err
	}
	return helmcli.New(ctx, helmcli.Config{
		Binary: o.helm, Folder: filepath.Join(o.dataDir, "sessions"), Rendered: filepath.Join(o.dataDir, "rendered"), ChartDir: o.chartDir,
		Repositories: repositories, ChartHosts: hosts, Uploads: uploaded,
		Environment: o.helmEnv, Supervisor: []string{self, superviseCommand}, Logger: logger,
	})
}

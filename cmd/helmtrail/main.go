// Command helmtrail runs Helm operations in the background and reports everything
// that happens, live and permanently afterwards.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/helmtrail/helmtrail/stream/helmcli"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetSlogLogger(slog.New(defaultLog{}))
	// A second Ctrl-C exits at once. A SIGTERM after a Ctrl-C does not: a parent
	// process that got the same Ctrl-C sends SIGTERM to its children.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// defaultLog is a [slog.Handler] that forwards to the current default logger, so
// that client-go's lines look like all others.
type defaultLog struct{}

func (defaultLog) Enabled(ctx context.Context, level slog.Level) bool {
	return slog.Default().Handler().Enabled(ctx, level)
}

func (defaultLog) Handle(ctx context.Context, record slog.Record) error {
	return slog.Default().Handler().Handle(ctx, record)
}

// WithAttrs implements [slog.Handler]. It drops the attributes that all of klog's
// lines share.
func (d defaultLog) WithAttrs([]slog.Attr) slog.Handler { return d }

func (d defaultLog) WithGroup(string) slog.Handler { return d }

// run runs the program and returns its exit code: 0 for success, 1 for a failure,
// 2 for wrong flags or arguments. Commands that compare document their own.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, errDiffers) {
		return codeDiffers
	}
	fmt.Fprintln(stderr, "helmtrail:", err)
	if usage := (*usageError)(nil); asUsage(err, &usage) {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", strings.TrimSpace("helmtrail "+usage.command))
		return 2
	}
	if errors.As(err, new(*comparisonError)) {
		return codeTrouble
	}
	return 1
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "helmtrail",
		Short:         "Run Helm operations in the background and report everything that happens",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
		RunE:          showHelp,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &usageError{commandName(c), err} })
	root.AddCommand(newServe(stdout, stderr), newTrail(stdout),
		newDecode(stdout), newHistory(stdout), newGet(stdout), newDiff(stdout), newDrift(stdout), newSupervise())
	return root
}

// commandName returns the command's path without the program's name.
func commandName(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// noArguments rejects arguments, so that a misspelt command fails.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{commandName(c), fmt.Errorf("unknown command or argument %q", args[0])}
	}
	return nil
}

// showHelp runs a command that only has subcommands.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// superviseCommand is the internal command that supervises one helm process.
const superviseCommand = "supervise"

func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    superviseCommand + " FOLDER",
		Short:  "Supervise the helm process of a session (internal)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return helmcli.Supervise(args[0]) },
	}
}

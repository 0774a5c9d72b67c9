// Command helmtrail runs Helm operations in the background and tells their
// whole story, live and for ever after.
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
	// A second Ctrl-C ends the process at once. A SIGTERM behind it does not:
	// a parent that got the same Ctrl-C sends one to its children.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// defaultLog is the default logger of the moment, to which client-go's own lines
// go, so that they look like all others.
type defaultLog struct{}

func (defaultLog) Enabled(ctx context.Context, level slog.Level) bool {
	return slog.Default().Handler().Enabled(ctx, level)
}

func (defaultLog) Handle(ctx context.Context, record slog.Record) error {
	return slog.Default().Handler().Handle(ctx, record)
}

// WithAttrs implements [slog.Handler]. What klog's lines have in common is no
// loss; each has its own attributes.
func (d defaultLog) WithAttrs([]slog.Attr) slog.Handler { return d }

func (d defaultLog) WithGroup(string) slog.Handler { return d }

// run is the whole program; it returns the exit code: 0 when all went well, 1
// when something failed, 2 when flags or arguments are wrong, and what a command
// itself says its errors mean.
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
		fmt.Fprintf(stderr, "Run '%s --help' for the flags.\n", strings.TrimSpace("helmtrail "+usage.command))
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
		Short:         "Run Helm operations in the background and tell their whole story",
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

// commandName is how a command is called after the program's own name.
func commandName(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// noArguments refuses arguments: a misspelt command must not look like one that
// went well.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{commandName(c), fmt.Errorf("there is no command or argument %q", args[0])}
	}
	return nil
}

// showHelp runs what is no command but the parent of some.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// superviseCommand runs the supervisor of one helm; helmtrail itself calls it.
const superviseCommand = "supervise"

func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    superviseCommand + " FOLDER",
		Short:  "Run one helm as a session's folder says (internal)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return helmcli.Supervise(args[0]) },
	}
}

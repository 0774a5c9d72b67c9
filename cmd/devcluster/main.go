// Command devcluster runs a real Kubernetes control plane in one process, for
// helmtrail's demo and tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `devcluster runs a Kubernetes control plane for tests and demos, in one process.

  devcluster up --dir D [--port P] [--name N]
        run a cluster in the foreground; its kubeconfig is D/kubeconfig
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on, the next one ends the process as it always does.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. It returns the exit code: 0, 1 for a cluster that
// failed, 2 for a command line that makes no sense.
func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) int {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	var err error
	switch command {
	case "up":
		err = up(ctx, args, stdout, stderr)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
	default:
		fmt.Fprint(stderr, usage)
		return 2
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)):
		fmt.Fprintln(stderr, "devcluster:", err)
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "devcluster:", err)
		return 1
	}
	return 0
}

// usageError is a command line that makes no sense.
type usageError string

func (e usageError) Error() string { return string(e) }

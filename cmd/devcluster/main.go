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

	"golang.org/x/sys/unix"
)

const usage = `devcluster runs a Kubernetes control plane for tests and demos, in one process.

  devcluster up --dir D [--port P] [--name N]
        run a cluster in the foreground; its kubeconfig is D/kubeconfig
  devcluster demo [--dir D] [--listen 127.0.0.1:8080] ...
        run a cluster with helmtrail and sample releases

-h after a command lists its flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, the next one kills the process.
	context.AfterFunc(ctx, stop)
	// The components get the descriptor of standard error itself.
	fd, err := unix.FcntlInt(os.Stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		fmt.Fprintln(os.Stderr, "devcluster: duplicate standard error:", err)
		os.Exit(1)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.NewFile(uintptr(fd), "terminal")))
}

// run runs the program, writes its progress to terminal and returns the exit code:
// 0 for success, 1 if the cluster failed, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout io.Writer, terminal *os.File) int {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	var err error
	switch command {
	case "up":
		err = up(ctx, args, stdout, terminal)
	case "demo":
		err = runDemo(ctx, args, stdout, terminal)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
	default:
		fmt.Fprint(terminal, usage)
		return 2
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)):
		fmt.Fprintln(terminal, "devcluster:", err)
		return 2
	case err != nil:
		fmt.Fprintln(terminal, "devcluster:", err)
		return 1
	}
	return 0
}

// usageError is a mistake in the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

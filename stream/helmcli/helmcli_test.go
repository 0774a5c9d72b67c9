package helmcli_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/helmcli"
	"github.com/helmtrail/helmtrail/stream/repository"
)

// TestMain makes the test binary its own supervisor, like the program.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "supervise" {
		if err := helmcli.Supervise(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0) // os.Exit takes a second longer with the race detector
	}
	goleak.VerifyTestMain(m)
}

var session = helmtrail.SessionRef{
	Release: helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"},
	ID:      "0b0fbd4e-6c0a-4f8a-9e6e-000000000001",
}

// standIn returns a Helm that reports the given version and otherwise runs the shell
// script. The real Helm cannot be made to misbehave on demand.
func standIn(t *testing.T, version, script string) *helmcli.Helm {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "helm")
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo " + version + "; exit 0; fi\n" + script + "\n"
	if err := os.WriteFile(binary, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	charts := t.TempDir()
	if err := os.MkdirAll(filepath.Join(charts, "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	hosts, err := repository.ParseHosts([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := helmcli.New(t.Context(), helmcli.Config{
		Binary: binary, Folder: filepath.Join(t.TempDir(), "sessions"), ChartDir: charts, ChartHosts: hosts,
		Supervisor: []string{os.Args[0], "supervise"}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.Problem() != nil {
		t.Fatal(h.Problem())
	}
	return h
}

func install() helmtrail.Request {
	return helmtrail.Request{Operation: helmtrail.OperationInstall, Release: session.Release, Chart: helmtrail.Chart{Ref: "web"}}
}

// start prepares and starts a process. It is closed when the test ends.
func start(t *testing.T, h *helmcli.Helm, request helmtrail.Request) backend.Process {
	t.Helper()
	p := prepare(t, h, request)
	if err := p.Start(t.Context(), backend.Launch{Kubeconfig: []byte("kubeconfig"), Deadline: time.Minute, StartRevision: 4}); err != nil {
		t.Fatal(err)
	}
	return p
}

func prepare(t *testing.T, h *helmcli.Helm, request helmtrail.Request) backend.Process {
	t.Helper()
	if err := h.Check(request); err != nil {
		t.Fatal(err)
	}
	p, err := h.Prepare(session, request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// follow returns the output and the end of a process.
func follow(ctx context.Context, t *testing.T, p backend.Process) ([]backend.Line, backend.ProcessEnd) {
	t.Helper()
	var lines []backend.Line
	end, err := p.Follow(ctx, 0, func(l backend.Line) error {
		lines = append(lines, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, end
}

func text(lines []backend.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func exitCode(end backend.ProcessEnd) string {
	switch {
	case end.Exit == nil:
		return "none"
	case end.Exit.Code == nil:
		return end.Exit.Signal
	}
	return fmt.Sprint(*end.Exit.Code)
}

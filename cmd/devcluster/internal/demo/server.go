package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// endTimeout bounds helmtrail's shutdown.
const endTimeout = 30 * time.Second

// server is helmtrail as a child process. It stays in our process group, so that
// every Ctrl-C in the terminal reaches it too.
type server struct {
	command *exec.Cmd
	// base is the address that it serves on, without a trailing slash.
	base  string
	ended chan struct{}
	err   error
}

var announced = regexp.MustCompile(`http://[^/\s]+`)

// serve starts helmtrail and returns when it has printed its address.
func serve(o Options, kubeconfig string) (*server, error) {
	logFile, err := os.Create(filepath.Join(o.Dir, "helmtrail.log"))
	if err != nil {
		return nil, fmt.Errorf("create helmtrail's log: %w", err)
	}
	defer logFile.Close()
	s := &server{
		command: exec.Command(o.Helmtrail, "serve",
			"--kubeconfig", kubeconfig,
			"--listen", freeAddress(o.Listen, o.Out),
			"--helm", o.Helm,
			"--data-dir", filepath.Join(o.Dir, "helmtrail"),
			"--chart-dir", o.Charts,
			// Ctrl-C must not wait for a slow sample.
			"--drain", "0s"),
		ended: make(chan struct{}),
	}
	s.command.Stderr = logFile
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start helmtrail: %w", err)
	}
	output := bufio.NewReader(stdout)
	for s.base == "" && err == nil {
		var line string
		line, err = output.ReadString('\n')
		s.base = announced.FindString(line)
	}
	go func() {
		io.Copy(io.Discard, output)
		s.err = s.command.Wait()
		close(s.ended)
	}()
	if s.base == "" {
		<-s.ended
		text, _ := os.ReadFile(logFile.Name())
		return nil, fmt.Errorf("helmtrail did not start (%v): %s", s.err, strings.TrimSpace(string(text)))
	}
	return s, nil
}

// freeAddress returns the wanted address or, if it is taken, the same host with a
// free port.
func freeAddress(wanted string, out io.Writer) string {
	listener, err := net.Listen("tcp", wanted)
	if err == nil {
		listener.Close()
		return wanted
	}
	host, port, splitErr := net.SplitHostPort(wanted)
	if splitErr != nil || !errors.Is(err, syscall.EADDRINUSE) {
		return wanted // helmtrail reports what is wrong with it
	}
	fmt.Fprintf(out, "port %s is taken, helmtrail takes a free one\n", port)
	return net.JoinHostPort(host, "0")
}

// stop stops helmtrail and everything that it runs.
func (s *server) stop() error {
	// It may already have exited because of the terminal's signal.
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop helmtrail: %w", err)
	}
	select {
	case <-s.ended:
		if s.err != nil {
			return fmt.Errorf("helmtrail ended with: %w", s.err)
		}
		return nil
	case <-time.After(endTimeout):
		s.command.Process.Kill()
		<-s.ended
		return fmt.Errorf("helmtrail did not end within %v and was killed", endTimeout)
	}
}

// wait blocks until ctx is done. It returns an error if helmtrail exits before.
func (s *server) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ended:
		// Both get the terminal's Ctrl-C, and helmtrail may exit first.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
			return fmt.Errorf("helmtrail ended by itself: %v", s.err)
		}
	}
}

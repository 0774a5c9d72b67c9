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

// endTimeout is what helmtrail gets to end its operations and itself.
const endTimeout = 30 * time.Second

// server is helmtrail as a child process. It stays in our process group, so
// that a terminal's Ctrl-C reaches it too, however often it is pressed.
type server struct {
	command *exec.Cmd
	// base is the address that it serves on, without a trailing slash.
	base  string
	ended chan struct{}
	err   error
}

var announced = regexp.MustCompile(`http://[^/\s]+`)

// serve starts helmtrail and returns when it has said where it serves.
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
			// Who presses Ctrl-C does not want to wait for a slow sample.
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

// freeAddress returns the address that was asked for, or, when it is taken, the
// same host with a port that the system chooses.
func freeAddress(wanted string, out io.Writer) string {
	listener, err := net.Listen("tcp", wanted)
	if err == nil {
		listener.Close()
		return wanted
	}
	host, port, splitErr := net.SplitHostPort(wanted)
	if splitErr != nil || !errors.Is(err, syscall.EADDRINUSE) {
		return wanted // helmtrail says what is wrong with it
	}
	fmt.Fprintf(out, "port %s is taken, helmtrail takes a free one\n", port)
	return net.JoinHostPort(host, "0")
}

// stop ends helmtrail and everything that it runs.
func (s *server) stop() error {
	// It may have had the terminal's signal already, or have ended of it.
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

// wait blocks until ctx is done, or until helmtrail ends by itself, which is
// an error.
func (s *server) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ended:
		// Both get a terminal's Ctrl-C, and helmtrail may be the faster.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
			return fmt.Errorf("helmtrail ended by itself: %v", s.err)
		}
	}
}

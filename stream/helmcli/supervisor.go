package helmcli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

const (
	// drainTime is how long output is waited for after helm has ended and its
	// group was killed: what still holds the pipe then has left the group.
	drainTime = 2 * time.Second
	// maxSpool bounds the spool, in bytes. Further output is dropped.
	maxSpool = 256 << 20
	// lockDescriptor is where the supervisor finds its lock.
	lockDescriptor = 3
)

// Supervise runs helm as a session's folder says, and blocks until it has
// ended and everything about it stands in the folder. It is the body of the
// supervisor's process, which must be started by Process.Start.
func Supervise(path string) error {
	// Pdeathsig is sent when the thread ends that forked helm, so that thread
	// must be the process's own.
	runtime.LockOSThread()
	syscall.CloseOnExec(lockDescriptor)
	f := folder(path)
	var run runContent
	if err := f.readJSON(runFile, &run); err != nil {
		return err
	}
	end, err := supervise(f, run)
	if err != nil {
		end.Problem = err.Error()
	}
	return errors.Join(err, f.writeJSON(endFile, end))
}

// supervise runs helm to its end.
func supervise(f folder, run runContent) (stream.ProcessEnd, error) {
	spool, err := os.OpenFile(f.path(spoolFile), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return stream.ProcessEnd{}, fmt.Errorf("write helm's output: %w", err)
	}
	defer spool.Close()
	secrets, err := readSecrets(f)
	if err != nil {
		return stream.ProcessEnd{}, err
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	output, input, err := os.Pipe()
	if err != nil {
		return stream.ProcessEnd{}, fmt.Errorf("make helm's pipe: %w", err)
	}
	defer output.Close()
	helm := exec.Command(run.Arguments[0], run.Arguments[1:]...)
	helm.Env = run.Environment
	helm.Dir = f.path(workFolder)
	helm.Stdout, helm.Stderr = input, input
	if run.Rendered != "" {
		rendered, err := os.OpenFile(f.path(run.Rendered), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return stream.ProcessEnd{}, fmt.Errorf("write what helm renders: %w", err)
		}
		defer rendered.Close()
		helm.Stdout = rendered
	}
	helm.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	err = helm.Start()
	input.Close()
	if err != nil {
		return stream.ProcessEnd{}, fmt.Errorf("helm could not be run: %w", err)
	}

	if err := f.writeJSON(helmFile, newHelmContent(helm.Process.Pid)); err != nil {
		_ = helm.Process.Kill()
		return stream.ProcessEnd{}, errors.Join(err, helm.Wait())
	}

	lines := newLineWriter(spool, secrets)
	written := make(chan error, 1)
	go func() { written <- lines.copy(output) }()
	exited := make(chan struct{})
	var end stream.ProcessEnd
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(f, run, helm.Process.Pid, terminated, exited)
	}()
	// Its error says only that the exit status is not 0.
	_ = helm.Wait()
	close(exited)
	<-watched
	var stop stopContent
	if first, err := f.claim(stopFile, stop); err != nil {
		return end, err
	} else if !first {
		if err := f.readJSON(stopFile, &stop); err != nil {
			return end, err
		}
	}
	end.Stop = stop.Cause
	_ = syscall.Kill(-helm.Process.Pid, syscall.SIGKILL) // whoever is left of the group
	end.Exit = exitOf(helm.ProcessState)
	if err := output.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return end, fmt.Errorf("end helm's output: %w", err)
	}
	err = <-written
	end.Message = lines.sieve.error()
	return end, err
}

// watch ends helm's group when the deadline passes, when the folder asks for
// it, or when the supervisor is told to end, and returns when helm has exited.
func watch(f folder, run runContent, group int, terminated <-chan os.Signal, exited <-chan struct{}) {
	deadline := time.NewTimer(run.Deadline)
	defer deadline.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	kill := time.NewTimer(0)
	<-kill.C
	defer kill.Stop()
	var killAt time.Time
	for {
		cause := stream.StopCause("")
		select {
		case <-exited:
			return
		case <-kill.C:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			continue
		case <-deadline.C:
			cause = stream.StopTimeout
		case <-terminated:
			cause = stream.StopInterrupted
		case <-look.C:
		}
		if cause != "" {
			// When this fails somebody was faster, or the disk is full and only
			// helm's end matters.
			if _, err := f.claim(stopFile, stopContent{cause, run.Grace}); err != nil {
				_ = syscall.Kill(-group, syscall.SIGKILL)
			}
		}
		var stop stopContent
		if f.readJSON(stopFile, &stop) != nil {
			continue
		}
		at := time.Now().Add(stop.Grace)
		if killAt.IsZero() {
			_ = syscall.Kill(-group, syscall.SIGTERM)
		} else if !at.Before(killAt) {
			continue
		}
		killAt = at
		kill.Reset(stop.Grace)
	}
}

func exitOf(state *os.ProcessState) *stream.Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return &stream.Exit{Signal: signalName(status.Signal())}
	}
	code := state.ExitCode()
	return &stream.Exit{Code: &code}
}

// signalName is the signal's name in POSIX.
func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGABRT:
		return "SIGABRT"
	}
	return fmt.Sprintf("signal %d", int(s))
}

// lineWriter brings helm's output into the spool.
type lineWriter struct {
	spool    io.Writer
	secrets  *mask.Secrets
	size     int
	splitter splitter
	sieve    sieve
	batch    []byte
}

func newLineWriter(spool io.Writer, secrets *mask.Secrets) *lineWriter {
	return &lineWriter{spool: spool, secrets: secrets}
}

// copy reads helm's output to its end. What is read is written at once. When
// that fails, the rest is read all the same, so that helm is not held up.
func (w *lineWriter) copy(output io.Reader) error {
	var failed error
	buffer := make([]byte, 64<<10)
	for {
		n, err := output.Read(buffer)
		w.splitter.write(buffer[:n], w.add)
		if err != nil && w.splitter.rest() {
			w.splitter.flush(w.add)
		}
		if failed == nil {
			failed = w.flush()
		}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			return failed
		}
		if err != nil {
			return errors.Join(failed, fmt.Errorf("read helm's output: %w", err))
		}
	}
}

func (w *lineWriter) add(line string, truncated bool) {
	line = w.secrets.Line(line)
	if !w.sieve.show(line) || w.size > maxSpool {
		return
	}
	before := len(w.batch)
	r := record{Time: time.Now(), Text: line, Truncated: truncated}
	if w.size+len(line) > maxSpool {
		r = record{Time: r.Time, Text: "helm's output is longer than can be kept; the rest is dropped", Truncated: true}
		w.size = maxSpool
	}
	if batch, err := appendRecord(w.batch, r); err == nil {
		w.batch = batch
	}
	w.size += len(w.batch) - before
}

func (w *lineWriter) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	batch := w.batch
	w.batch = w.batch[:0]
	_, err := w.spool.Write(batch)
	if err != nil {
		return fmt.Errorf("write helm's output: %w", err)
	}
	return nil
}

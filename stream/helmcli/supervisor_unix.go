//go:build linux || darwin

package helmcli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

const (
	// drainTime is how long the supervisor waits for output after helm has
	// exited and its process group was killed. A process that still holds the
	// pipe then has left the group.
	drainTime = 2 * time.Second
	// lockDescriptor is the supervisor's descriptor of its lock file.
	lockDescriptor = 3
)

// CheckPlatform reports whether helm can be supervised on this operating
// system. It can.
func CheckPlatform() error { return nil }

// Supervise runs helm as the session's folder says. It blocks until helm has
// exited and the folder holds how. It is the body of the supervisor's process,
// which Process.Start starts.
func Supervise(path string) error {
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

// supervise runs helm and waits until it has exited.
func supervise(f folder, run runContent) (backend.ProcessEnd, error) {
	spool, err := os.OpenFile(f.path(spoolFile), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return backend.ProcessEnd{}, fmt.Errorf("write helm's output: %w", err)
	}
	defer spool.Close()
	secrets, err := readSecrets(f)
	if err != nil {
		return backend.ProcessEnd{}, err
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	output, input, err := os.Pipe()
	if err != nil {
		return backend.ProcessEnd{}, fmt.Errorf("create helm's output pipe: %w", err)
	}
	defer output.Close()
	helm := exec.Command(run.Arguments[0], run.Arguments[1:]...)
	helm.Env = run.Environment
	helm.Dir = f.path(workFolder)
	helm.Stdout, helm.Stderr = input, input
	if run.Rendered != "" {
		rendered, err := os.OpenFile(f.path(run.Rendered), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return backend.ProcessEnd{}, fmt.Errorf("write helm's rendered output: %w", err)
		}
		defer rendered.Close()
		helm.Stdout = rendered
	}
	helm.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithSupervisor(helm)
	err = helm.Start()
	input.Close()
	if err != nil {
		return backend.ProcessEnd{}, fmt.Errorf("run helm: %w", err)
	}

	if err := f.writeJSON(helmFile, newHelmContent(helm.Process.Pid)); err != nil {
		_ = helm.Process.Kill()
		return backend.ProcessEnd{}, errors.Join(err, helm.Wait())
	}

	lines := newLineWriter(spool, secrets, run.Paths)
	written := make(chan error, 1)
	go func() { written <- lines.copy(output) }()
	exited := make(chan struct{})
	var end backend.ProcessEnd
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(f, run, helm.Process.Pid, terminated, exited)
	}()
	// Its error only repeats that the exit status is not 0.
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
	_ = syscall.Kill(-helm.Process.Pid, syscall.SIGKILL) // the rest of the group, if any
	end.Exit = exitOf(helm.ProcessState)
	if err := output.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return end, fmt.Errorf("drain helm's output: %w", err)
	}
	err = <-written
	end.Message = lines.sieve.error()
	return end, err
}

// watch stops helm's process group when the deadline passes, when the folder
// holds a stop request, or when the supervisor gets a signal. It returns when
// helm has exited.
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
		cause := backend.StopCause("")
		select {
		case <-exited:
			return
		case <-kill.C:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			continue
		case <-deadline.C:
			cause = backend.StopTimeout
		case <-terminated:
			cause = backend.StopInterrupted
		case <-look.C:
		}
		if cause != "" {
			// claim fails when the disk is full. Then only stopping helm matters.
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

// exitOf returns helm's exit code or the signal that killed it.
func exitOf(state *os.ProcessState) *helmtrail.Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return &helmtrail.Exit{Signal: signalName(status.Signal())}
	}
	code := state.ExitCode()
	return &helmtrail.Exit{Code: &code}
}

// signalName returns the signal's name in POSIX, such as SIGTERM.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

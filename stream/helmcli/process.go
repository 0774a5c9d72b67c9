package helmcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/filelock"
)

// Process implements backend.Process: a session's folder and the supervisor that
// works in it, which an earlier helmtrail may have started.
type Process struct {
	helm    *Helm
	folder  folder
	session helmtrail.SessionRef
	request helmtrail.Request
	reaped  chan struct{} // closed when the supervisor has ended; nil unless it was started here

	masking sync.Mutex
	secrets *mask.Secrets // nil until something is masked
	paths   []shownPath
}

// lookEvery is how often the spool is checked for more output.
const lookEvery = 20 * time.Millisecond

// Session implements backend.Process.
func (p *Process) Session() helmtrail.SessionRef { return p.session }

// Request implements backend.Process.
func (p *Process) Request() helmtrail.Request { return p.request }

// runContent is the content of run.json.
type runContent struct {
	// Arguments are helm's command line, its path first.
	Arguments   []string
	Environment []string
	// Paths are hidden in helm's output.
	Paths []shownPath
	// Rendered is the file for helm's standard output, "" for the spool.
	Rendered string
	Deadline time.Duration
	// Grace applies when nobody asked helmtrail to stop helm: at the deadline, and
	// on a SIGTERM to the supervisor.
	Grace time.Duration
}

// stopContent is the content of stop.json. The file is created once per attempt,
// either by a request to stop helm, or by the supervisor when helm exits by
// itself. So both agree on which came first.
type stopContent struct {
	// Cause is "" if helm exited by itself.
	Cause backend.StopCause
	Grace time.Duration
}

// Start implements backend.Process.
func (p *Process) Start(ctx context.Context, launch backend.Launch) error {
	run := runContent{
		Environment: environment(p.folder, p.helm.config.Environment),
		Paths:       p.shownPaths(),
		Deadline:    launch.Deadline,
		Grace:       backend.DefaultGrace,
	}
	if p.request.Options.RollbackOnFailure {
		run.Grace = max(run.Grace, p.request.Options.Timeout())
	}
	for _, name := range []string{homeFolder + "/tmp", workFolder} {
		if err := os.MkdirAll(p.folder.path(name), 0o700); err != nil {
			return fmt.Errorf("create helm's folders: %w", err)
		}
	}
	if err := p.folder.write(kubeconfigFile, launch.Kubeconfig); err != nil {
		return err
	}
	began := time.Now()
	if err := p.fetchChart(ctx, launch); err != nil {
		return err
	}
	run.Deadline -= time.Since(began)
	if err := p.writeSecrets(launch); err != nil {
		return err
	}
	// The arguments name the private files that exist.
	run.Arguments = append([]string{p.helm.path}, p.arguments(launch)...)
	if renders(p.request) {
		run.Rendered = renderedFile
	}
	if err := p.folder.writeJSON(runFile, run); err != nil {
		return err
	}
	if launch.Attempt <= 1 {
		if err := p.folder.write(spoolFile, nil); err != nil {
			return err
		}
	}
	for _, last := range []string{endFile, stopFile, helmFile} {
		if err := os.Remove(p.folder.path(last)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the files of the last attempt: %w", err)
		}
	}
	if err := p.folder.writeJSON(launchFile, launch); err != nil {
		return err
	}
	return p.supervise()
}

// arguments returns helm's arguments for one attempt.
func (p *Process) arguments(launch backend.Launch) []string {
	values := ""
	if _, err := os.Stat(p.folder.path(valuesFile)); err == nil {
		values = p.folder.path(valuesFile)
	}
	arguments := p.helm.arguments(p.session.ID, p.request, values)
	if launch.Replace {
		arguments = slices.Insert(arguments, 1, "--replace")
	}
	return arguments
}

// supervise starts the supervisor in a process session of its own. It takes the
// lock here and passes it on, so the lock is held for as long as the supervisor
// runs.
func (p *Process) supervise() error {
	lock, err := os.OpenFile(p.folder.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	defer lock.Close()
	if err := filelock.TryLock(lock); err != nil {
		return fmt.Errorf("start the supervisor: lock the session's folder: %w", err)
	}
	argv := p.helm.config.Supervisor
	command := exec.Command(argv[0], append(append([]string{}, argv[1:]...), string(p.folder))...)
	command.Env = []string{}
	command.Dir = string(p.folder)
	command.ExtraFiles = []*os.File{lock}
	detach(command)
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	reaped := make(chan struct{})
	p.reaped = reaped
	go func() {
		// Follow reads the end from the folder. Wait only avoids a zombie.
		_ = command.Wait()
		close(reaped)
	}()
	return nil
}

// alive reports whether the supervisor still runs.
func (p *Process) alive() bool {
	lock, err := os.Open(p.folder.path(lockFile))
	if err != nil {
		return false
	}
	defer lock.Close()
	return filelock.TryShare(lock) != nil
}

// Launched implements backend.Process.
func (p *Process) Launched() (backend.Launch, bool) {
	var launch backend.Launch
	err := p.folder.readJSON(launchFile, &launch)
	return launch, err == nil
}

// Follow implements backend.Process.
func (p *Process) Follow(ctx context.Context, offset int64, f func(backend.Line) error) (backend.ProcessEnd, error) {
	spool, err := openSpool(p.folder, offset)
	if err != nil {
		return backend.ProcessEnd{}, err
	}
	defer spool.close()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		// Check whether helm has exited before reading its output, so that no line
		// is missed that was written in between.
		alive := p.alive()
		end, ended, err := p.end()
		if err != nil {
			return backend.ProcessEnd{}, err
		}
		if err := spool.read(f); err != nil {
			return backend.ProcessEnd{}, err
		}
		if ended {
			return end, nil
		}
		if !alive {
			if end, ended, err = p.end(); err != nil || ended {
				return end, errors.Join(err, spool.read(f))
			}
			return p.orphaned(ctx)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return backend.ProcessEnd{}, ctx.Err()
		}
	}
}

func (p *Process) end() (end backend.ProcessEnd, ended bool, err error) {
	err = p.folder.readJSON(endFile, &end)
	if errors.Is(err, os.ErrNotExist) {
		return end, false, nil
	}
	return end, err == nil, err
}

// orphaned waits for a helm whose supervisor was killed, and returns its end.
// helm gets SIGTERM, from the kernel or from here, and SIGKILL if it has not
// exited after DefaultGrace.
func (p *Process) orphaned(ctx context.Context) (backend.ProcessEnd, error) {
	end := backend.ProcessEnd{Problem: "helm's supervisor was killed, so helm's exit status is unknown"}
	var helm helmContent
	if p.folder.readJSON(helmFile, &helm) != nil {
		return end, nil // the supervisor was killed before it started helm
	}
	if err := helm.terminateOrphan(); err != nil {
		return end, err
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	grace := time.NewTimer(backend.DefaultGrace)
	defer grace.Stop()
	for helm.runs() {
		select {
		case <-look.C:
		case <-grace.C:
			if err := helm.kill(); err != nil {
				return end, err
			}
		case <-ctx.Done():
			return end, ctx.Err()
		}
	}
	return end, helm.kill()
}

// Stop implements backend.Process.
func (p *Process) Stop(cause backend.StopCause, grace time.Duration) (accepted bool, err error) {
	first, err := p.folder.claim(stopFile, stopContent{cause, grace})
	if err != nil || first {
		return first, err
	}
	var before stopContent
	if err := p.folder.readJSON(stopFile, &before); err != nil {
		return false, err
	}
	if before.Cause == "" {
		return false, nil
	}
	if grace < before.Grace {
		err = p.folder.writeJSON(stopFile, stopContent{before.Cause, grace})
	}
	return true, err
}

// Close implements backend.Process.
func (p *Process) Close() error {
	if p.reaped != nil {
		<-p.reaped // what ends helm has written its last file
	}
	if err := os.RemoveAll(string(p.folder)); err != nil {
		return fmt.Errorf("remove the folder of session %s: %w", p.session.ID, err)
	}
	return nil
}

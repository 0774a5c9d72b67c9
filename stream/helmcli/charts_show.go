package helmcli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
)

// renderTimeout bounds rendering a chart to show it.
const renderTimeout = time.Minute

// FetchChart returns a chart's archive. It blocks for at most a minute and a half,
// and before that for its turn. It fails with an *helmtrail.InvalidError if the
// reference is not valid, and with helmtrail.ErrNoChart if the chart cannot be
// fetched. No error contains a credential.
func (h *Helm) FetchChart(ctx context.Context, fetch helmtrail.ChartFetch) (archive []byte, err error) {
	err = h.fetchAside(ctx, fetch, func(file string) error {
		archive, err = os.ReadFile(file)
		return err
	})
	return archive, err
}

// LoadChart reads an archive as helm does, with helm's limits on its uncompressed
// size. Only a few charts are read at once; it blocks for its turn. It fails with
// helmtrail.ErrNoChart if the archive is not an installable chart.
func (h *Helm) LoadChart(ctx context.Context, archive []byte) (*chart.Chart, error) {
	select {
	case h.readers <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.readers }()
	read, err := loader.LoadArchive(bytes.NewReader(archive))
	if err == nil {
		err = installable(read)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", helmtrail.ErrNoChart, oneLine(err.Error()))
	}
	return read, nil
}

// RepositoryIndex returns a repository's index, which may be five minutes old. It
// blocks for at most half a minute. No error contains a credential.
func (h *Helm) RepositoryIndex(ctx context.Context, address string, access map[string][]byte) (catalog.Index, error) {
	if err := h.checkRemote("url", address, "https", "http"); err != nil {
		return nil, fmt.Errorf("%w: invalid repository address: %w", helmtrail.ErrNoChart, err)
	}
	return h.remote.Index(ctx, address, access)
}

// Repositories returns the configured chart repositories.
func (h *Helm) Repositories() []helmtrail.ChartRepository {
	list := make([]helmtrail.ChartRepository, 0, len(h.config.Repositories))
	for _, r := range h.config.Repositories {
		list = append(list, helmtrail.ChartRepository{Name: r.Name, URL: r.URL})
	}
	return list
}

// RenderChart renders an archive with helm, custom resource definitions first,
// hooks included. It uses no cluster and blocks for at most a minute. It fails
// with helmtrail.ErrNoChart and helm's error. Values are YAML and a secret. If
// kubeVersion is "", templates see helm's default.
func (h *Helm) RenderChart(ctx context.Context, archive []byte, release helmtrail.ReleaseRef, values []byte, kubeVersion string) ([]byte, error) {
	if err := CheckRelease(release.Namespace, release.Name); err != nil {
		return nil, err
	}
	if err := checkValues(values); err != nil {
		return nil, err
	}
	var rendered []byte
	err := h.aside(ctx, renderTimeout, func(ctx context.Context, f folder) error {
		if err := errors.Join(f.write(archiveFile, archive), f.write(valuesFile, values)); err != nil {
			return err
		}
		arguments := []string{"template", "--include-crds", "--namespace=" + release.Namespace, "--values=" + f.path(valuesFile)}
		if kubeVersion != "" {
			arguments = append(arguments, "--kube-version="+kubeVersion)
		}
		var err error
		rendered, err = h.runAside(ctx, f, append(arguments, "--", release.Name, f.path(archiveFile))...)
		return err
	})
	return rendered, err
}

// aside runs f with a private folder and a timeout. Only a few run at once. The
// folder is removed when f returns.
func (h *Helm) aside(ctx context.Context, limit time.Duration, f func(context.Context, folder) error) error {
	if h.problem != nil {
		return h.problem
	}
	select {
	case h.renders <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.renders }()
	temporary, err := os.MkdirTemp("", "helmtrail-chart-")
	if err != nil {
		return fmt.Errorf("create a folder for a chart: %w", err)
	}
	defer os.RemoveAll(temporary)
	private := folder(temporary)
	if err := os.MkdirAll(private.path(homeFolder)+"/tmp", 0o700); err != nil {
		return fmt.Errorf("create a folder for a chart: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx, private)
}

// runAside runs helm in a private folder and returns its output.
func (h *Helm) runAside(ctx context.Context, f folder, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, h.path, arguments...)
	command.Env = environment(f, h.config.Environment)
	command.Dir = f.path(homeFolder)
	// Helm's children may hold the pipe open, and on a busy machine reading it may
	// take a while.
	command.WaitDelay = 10 * time.Second
	var printed, said bytes.Buffer
	command.Stdout, command.Stderr = &printed, &said
	if err := command.Run(); err != nil {
		text := strings.ReplaceAll(cmp.Or(lastError(said.Bytes()), err.Error()), string(f)+"/", "")
		return nil, fmt.Errorf("%w: %s", helmtrail.ErrNoChart, text)
	}
	return printed.Bytes(), nil
}

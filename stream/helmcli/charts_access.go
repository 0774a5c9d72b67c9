package helmcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/repository"
)

// archiveFile is a session's chart, unless it is one of the chart directory. Helm
// is given this file and never a URL, so it sends no request but to the cluster.
const archiveFile = "chart.tgz"

// fetchChart fetches the session's chart into its folder, unless an earlier
// attempt has. It blocks for as long as that takes, at most until the session's
// deadline.
func (p *Process) fetchChart(ctx context.Context, launch backend.Launch) error {
	chart, file := p.request.Chart, p.folder.path(archiveFile)
	if !isRemote(chart) {
		return nil
	}
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, launch.Deadline)
	defer cancel()
	return p.helm.fetch(ctx, helmtrail.ChartFetch{Chart: chart, Access: launch.ChartCredentials}, file)
}

// fetch fetches a chart that passed checkChart into a file. No error contains a
// credential.
func (h *Helm) fetch(ctx context.Context, fetch helmtrail.ChartFetch, file string) error {
	chart := fetch.Chart
	wanted := repository.Chart{Ref: chart.Ref, Version: chart.Version, LoginFor: fetch.AccessFor}
	if chart.Repo != "" {
		wanted.Repo = h.repositoryURL(chart.Repo)
	}
	if chart.CredentialsSecret != "" || fetch.Access != nil {
		login, err := repository.ReadLogin(fetch.Access)
		if err != nil {
			return fmt.Errorf("%w: Secret %s %w", helmtrail.ErrNoChart, cmp.Or(chart.CredentialsSecret, "with the login"), err)
		}
		wanted.Login = login
	}
	return h.remote.Fetch(ctx, wanted, file)
}

// fetchAside calls f with a file that holds a chart, and removes the file. It
// blocks for one of the caller's slots.
func (h *Helm) fetchAside(ctx context.Context, fetch helmtrail.ChartFetch, f func(file string) error) error {
	fetch.Chart.CredentialsSecret = ""
	if err := h.checkChart(catalog.Scope{}, fetch.Chart); err != nil {
		return err
	}
	if !isRemote(fetch.Chart) {
		return errors.New("fetch a chart: it is on the server")
	}
	if h.problem != nil {
		return h.problem
	}
	release, err := h.remote.Take(ctx, fetch.User)
	if err != nil {
		return err
	}
	defer release()
	temporary, err := os.MkdirTemp("", "helmtrail-chart-")
	if err != nil {
		return fmt.Errorf("create a folder for a chart: %w", err)
	}
	defer os.RemoveAll(temporary)
	file := folder(temporary).path(archiveFile)
	if err := h.fetch(ctx, fetch, file); err != nil {
		return err
	}
	return f(file)
}

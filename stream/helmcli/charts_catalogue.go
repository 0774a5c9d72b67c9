package helmcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
)

const (
	// chartDepth bounds the depth of charts in the chart directory.
	chartDepth = 4
	// maxListed bounds the charts of the chart directory that are listed.
	maxListed = 2000
	// maxReadme bounds a README, in bytes.
	maxReadme = 1 << 20
)

// ListCharts returns the charts of the chart directory, the uploaded charts of a
// scope and those of the configured repositories, each sorted by name. Charts and
// repositories that cannot be read are reported in problems; the others are still
// listed. It blocks while it fetches the indexes that are not cached.
func (h *Helm) ListCharts(ctx context.Context, scope catalog.Scope) (items []catalog.Item, problems []catalog.Problem) {
	items, problems = h.directoryCharts(ctx)
	uploaded, err := h.uploadedCharts(ctx, scope)
	if err != nil {
		problems = append(problems, catalog.Problem{Where: uploadPrefix, Message: err.Error()})
	}
	items = append(items, uploaded...)

	found := make([][]catalog.Item, len(h.config.Repositories))
	failed := make([]error, len(h.config.Repositories))
	var group errgroup.Group
	for i, r := range h.config.Repositories {
		group.Go(func() error {
			index, err := h.remote.Index(ctx, r.URL, nil)
			if err != nil {
				failed[i] = err
				return nil
			}
			found[i] = indexItems(index, r.Name)
			return nil
		})
	}
	_ = group.Wait() // each repository has its own error
	for i, r := range h.config.Repositories {
		items = append(items, found[i]...)
		if failed[i] != nil {
			problems = append(problems, catalog.Problem{Where: r.Name, Message: failed[i].Error()})
		}
	}
	return items, problems
}

// indexItems returns the charts of an index by name. Helm keeps their versions
// newest first.
func indexItems(index catalog.Index, repo string) []catalog.Item {
	items := make([]catalog.Item, 0, len(index))
	for name, entries := range index {
		if len(entries) == 0 || !chartPattern.MatchString(name) || strings.Contains(name, "/") {
			continue
		}
		item := catalog.Item{
			Ref: name, Repo: repo, Source: catalog.FromRepository, Name: name,
			Description: entries[0].Description, Icon: entries[0].Icon, Versions: make([]catalog.ItemVersion, len(entries)),
		}
		for n, e := range entries {
			item.Versions[n] = e.ItemVersion
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b catalog.Item) int { return strings.Compare(a.Name, b.Name) })
	return items
}

func newItem(ref string, source catalog.Source, m *chart.Metadata) catalog.Item {
	return catalog.Item{
		Ref: ref, Source: source, Name: m.Name, Description: m.Description, Icon: m.Icon,
		Versions: []catalog.ItemVersion{{Version: m.Version, AppVersion: m.AppVersion, Deprecated: m.Deprecated}},
	}
}

// directoryCharts lists the chart directory: folders with a Chart.yaml, and archives.
func (h *Helm) directoryCharts(ctx context.Context) (items []catalog.Item, problems []catalog.Problem) {
	if h.config.ChartDir == "" {
		return nil, nil
	}
	err := filepath.WalkDir(h.config.ChartDir, func(path string, entry fs.DirEntry, err error) error {
		relative, relativeErr := filepath.Rel(h.config.ChartDir, path)
		if err = cmp.Or(err, relativeErr, ctx.Err()); err != nil {
			return err
		}
		ref := filepath.ToSlash(relative)
		if ref == "." {
			return nil
		}
		if !chartPattern.MatchString(ref) || len(items) == maxListed || strings.Count(ref, "/") == chartDepth {
			return skip(entry)
		}
		m, err := h.metadataAt(ctx, path, entry)
		switch {
		case err != nil:
			problems = append(problems, catalog.Problem{Where: ref, Message: oneLine(strings.ReplaceAll(err.Error(), h.config.ChartDir+"/", ""))})
		case m == nil:
			return nil
		case m.Type != "library":
			items = append(items, newItem(ref, catalog.FromDirectory, m))
		}
		return skip(entry)
	})
	if err != nil {
		problems = append(problems, catalog.Problem{Where: ".", Message: "the chart directory cannot be read"})
	}
	return items, problems
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// metadataAt reads a Chart.yaml, nil if there is none.
func (h *Helm) metadataAt(ctx context.Context, path string, entry fs.DirEntry) (*chart.Metadata, error) {
	if !entry.IsDir() {
		if filepath.Ext(path) != ".tgz" {
			return nil, nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		return h.archiveMetadata(ctx, path, fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
	}
	data, err := os.ReadFile(filepath.Join(path, "Chart.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &chart.Metadata{}
	if err := yaml.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read Chart.yaml: %w", err)
	}
	return m, m.Validate()
}

func (h *Helm) uploadedCharts(ctx context.Context, scope catalog.Scope) ([]catalog.Item, error) {
	if h.config.Uploads == nil {
		return nil, nil
	}
	archives, err := h.config.Uploads.List(scope)
	if err != nil {
		return nil, err
	}
	var items []catalog.Item
	for _, a := range archives {
		// A chart that was removed in between is not listed.
		ref := uploadPrefix + a.Digest
		if m, err := h.archiveMetadata(ctx, a.Path, ref); err == nil {
			items = append(items, newItem(ref, catalog.FromUpload, m))
		}
	}
	slices.SortFunc(items, func(a, b catalog.Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Ref, b.Ref))
	})
	return items, nil
}

// archiveMetadata returns what an archive's Chart.yaml says. It is cached under
// the key, which must change when the archive does.
func (h *Helm) archiveMetadata(ctx context.Context, path, key string) (*chart.Metadata, error) {
	if cached, ok := h.metadata.Get(key); ok {
		return cached, nil
	}
	read, err := h.readChart(ctx, path)
	if err != nil {
		return nil, err
	}
	h.metadata.Add(key, read.Metadata)
	return read.Metadata, nil
}

// DescribeChart reads a chart, which may be an uploaded one of the scope, and
// fetches it if it is not on the server.
// It fails with an *helmtrail.InvalidError if the reference is not valid, and with
// helmtrail.ErrNoChart if the chart cannot be fetched or read.
func (h *Helm) DescribeChart(ctx context.Context, scope catalog.Scope, fetch helmtrail.ChartFetch) (*catalog.Details, error) {
	c := fetch.Chart
	if err := h.checkChart(scope, c); err != nil {
		return nil, err
	}
	read, err := h.openChart(ctx, scope, fetch)
	if err != nil {
		return nil, err
	}
	metadata, err := json.Marshal(read.Metadata)
	if err != nil {
		return nil, fmt.Errorf("encode the metadata of chart %s: %w", c.Ref, err)
	}
	details := &catalog.Details{Ref: c.Ref, Repo: c.Repo, Metadata: metadata, Schema: read.Schema}
	for _, file := range read.Raw {
		switch {
		case file.Name == "values.yaml":
			details.Values = string(file.Data)
		case strings.EqualFold(file.Name, "README.md"):
			details.Readme = string(file.Data[:min(len(file.Data), maxReadme)])
		}
	}
	return details, nil
}

// openChart loads a chart, and fetches it if necessary.
func (h *Helm) openChart(ctx context.Context, scope catalog.Scope, fetch helmtrail.ChartFetch) (read *chart.Chart, err error) {
	ref := fetch.Chart.Ref
	load := func(path string) error {
		if read, err = h.readChart(ctx, path); err != nil {
			return fmt.Errorf("%w: %s", helmtrail.ErrNoChart, oneLine(strings.ReplaceAll(err.Error(), path, ref)))
		}
		return nil
	}
	if isRemote(fetch.Chart) {
		err = h.fetchAside(ctx, fetch, load)
		return read, err
	}
	path, err := h.localChart(scope, ref)
	if err != nil {
		return nil, err
	}
	return read, load(path)
}

// lastError returns helm's error text.
func lastError(output []byte) string {
	_, text, _ := strings.Cut("\n"+string(output), "\nError: ")
	return oneLine(text)
}

// oneLine shortens an error's text to one line.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const limit = 500
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + " ..."
	}
	return text
}

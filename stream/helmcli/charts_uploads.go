package helmcli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

const (
	// maxUploads and maxUploadBytes bound what is kept; the archives that
	// nobody has used for longest go first.
	maxUploads     = 200
	maxUploadBytes = 1 << 30
	// maxReaders bounds the charts that are read or fetched at the same time,
	// which may take a hundred megabytes each.
	maxReaders = 2
	// unfinished are the names of archives that are not whole yet.
	unfinished = ".upload-*.tgz"
)

// UploadChart keeps an archive that helm can install, and returns it as it is
// listed. It fails with an *stream.InvalidError when the archive is none.
func (h *Helm) UploadChart(ctx context.Context, archive io.Reader) (*stream.ChartItem, error) {
	if h.config.Uploads == "" {
		return nil, invalid("chart", "uploads are turned off")
	}
	if err := os.MkdirAll(h.config.Uploads, 0o700); err != nil {
		return nil, fmt.Errorf("keep a chart: %w", err)
	}
	file, err := atomicfile.New(h.config.Uploads, unfinished)
	if err != nil {
		return nil, fmt.Errorf("keep a chart: %w", err)
	}
	defer file.Discard()
	digest := sha256.New()
	if _, err := io.Copy(io.MultiWriter(file, digest), archive); err != nil {
		return nil, fmt.Errorf("keep a chart: %w", err)
	}
	read, err := h.readChart(ctx, file.Path())
	if err != nil {
		return nil, invalid("chart", "must be a chart as `helm package` makes it: "+oneLine(strings.ReplaceAll(err.Error(), file.Path(), "archive")))
	}
	ref := uploadPrefix + hex.EncodeToString(digest.Sum(nil))
	if err := file.Replace(h.uploadPath(ref)); err != nil {
		return nil, fmt.Errorf("keep a chart: %w", err)
	}
	item := newItem(ref, stream.ChartFromUpload, read.Metadata)
	return &item, h.prune(h.uploadPath(ref))
}

func (h *Helm) uploadPath(ref string) string {
	return filepath.Join(h.config.Uploads, strings.TrimPrefix(ref, uploadPrefix)+".tgz")
}

// uploadedChart finds an uploaded chart and notes that it is used.
func (h *Helm) uploadedChart(ref string) (string, error) {
	if !uploadPattern.MatchString(ref) || h.config.Uploads == "" {
		return "", invalid("chart.ref", "must be what the upload was answered with")
	}
	path := h.uploadPath(ref)
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		return "", missing("chart.ref", "the uploaded chart is not kept any more; upload it again")
	}
	return path, nil
}

// linkUpload gives a session its own hold on an uploaded chart, which may be
// pruned before helm is run, or run again.
func (h *Helm) linkUpload(f folder, ref string) error {
	if !strings.HasPrefix(ref, uploadPrefix) {
		return nil
	}
	path, err := h.uploadedChart(ref)
	if err != nil {
		return err
	}
	if err := os.Link(path, f.path(archiveFile)); err != nil {
		return fmt.Errorf("hold the uploaded chart: %w", err)
	}
	return nil
}

// uploads are the kept archives, the latest used first.
func (h *Helm) uploads() ([]fs.FileInfo, error) {
	if h.config.Uploads == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(h.config.Uploads)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the uploaded charts: %w", err)
	}
	var files []fs.FileInfo
	for _, e := range entries {
		// One that has gone since is not listed.
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	return files, nil
}

// sweepUploads removes what an interrupted upload has left.
func (h *Helm) sweepUploads() error {
	left, err := filepath.Glob(filepath.Join(h.config.Uploads, unfinished))
	if err != nil || h.config.Uploads == "" {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("sweep the uploaded charts: %w", err)
		}
	}
	return nil
}

// prune removes what is too much, but not the archive at path.
func (h *Helm) prune(path string) error {
	files, err := h.uploads()
	if err != nil {
		return err
	}
	size := int64(0)
	for i, file := range files {
		size += file.Size()
		old := filepath.Join(h.config.Uploads, file.Name())
		if old == path || i < maxUploads && size <= maxUploadBytes {
			continue
		}
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove an uploaded chart: %w", err)
		}
	}
	return nil
}

// readChart loads a folder or an archive as helm does, with helm's bounds on
// what is inflated. It waits for its turn.
func (h *Helm) readChart(ctx context.Context, path string) (*chart.Chart, error) {
	select {
	case h.readers <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.readers }()
	return loadChart(path)
}

func loadChart(path string) (*chart.Chart, error) {
	read, err := loader.Load(path)
	if err != nil {
		return nil, err
	}
	return read, installable(read)
}

// installable fails for what helm would not install.
func installable(c *chart.Chart) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Metadata.Type == "library" {
		return errors.New("library charts are not installable")
	}
	return nil
}

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

	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

const (
	// maxUploads and maxUploadBytes bound the archives that are kept. The least
	// recently used ones are removed first.
	maxUploads     = 200
	maxUploadBytes = 1 << 30
	// maxReaders bounds the charts that are read or fetched at once. Each may take
	// 100 MB of memory.
	maxReaders = 2
	// unfinished is the pattern of the names of incomplete archives.
	unfinished = ".upload-*.tgz"
)

// UploadChart stores the archive of a chart and returns its item in the list. It
// fails with an *helmtrail.InvalidError if the archive is not an installable chart.
func (h *Helm) UploadChart(ctx context.Context, archive io.Reader) (*catalog.Item, error) {
	if h.config.Uploads == "" {
		return nil, invalid("chart", "uploads are disabled")
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
		return nil, invalid("chart", "must be a chart archive, as `helm package` creates it: "+oneLine(strings.ReplaceAll(err.Error(), file.Path(), "archive")))
	}
	ref := uploadPrefix + hex.EncodeToString(digest.Sum(nil))
	if err := file.Replace(h.uploadPath(ref)); err != nil {
		return nil, fmt.Errorf("keep a chart: %w", err)
	}
	item := newItem(ref, catalog.FromUpload, read.Metadata)
	return &item, h.prune(h.uploadPath(ref))
}

func (h *Helm) uploadPath(ref string) string {
	return filepath.Join(h.config.Uploads, strings.TrimPrefix(ref, uploadPrefix)+".tgz")
}

// uploadedChart finds an uploaded chart and marks it as used.
func (h *Helm) uploadedChart(ref string) (string, error) {
	if !uploadPattern.MatchString(ref) || h.config.Uploads == "" {
		return "", invalid("chart.ref", "must be the ref from the answer to the upload")
	}
	path := h.uploadPath(ref)
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		return "", missing("chart.ref", "the uploaded chart was removed; upload it again")
	}
	return path, nil
}

// linkUpload links an uploaded chart into a session's folder, since it may be
// pruned before helm is run.
func (h *Helm) linkUpload(f folder, ref string) error {
	if !strings.HasPrefix(ref, uploadPrefix) {
		return nil
	}
	path, err := h.uploadedChart(ref)
	if err != nil {
		return err
	}
	if err := os.Link(path, f.path(archiveFile)); err != nil {
		return fmt.Errorf("link the uploaded chart: %w", err)
	}
	return nil
}

// uploads returns the uploaded archives, most recently used first.
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
		// A file that was removed in between is not listed.
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	return files, nil
}

// sweepUploads removes the files of interrupted uploads.
func (h *Helm) sweepUploads() error {
	left, err := filepath.Glob(filepath.Join(h.config.Uploads, unfinished))
	if err != nil || h.config.Uploads == "" {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove interrupted uploads: %w", err)
		}
	}
	return nil
}

// prune removes archives beyond the limits, but not the one at path.
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

// readChart loads a folder or an archive as helm does, with helm's limits on the
// uncompressed size. It blocks for its turn.
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

// installable returns an error for a chart that helm would not install.
func installable(c *chart.Chart) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Metadata.Type == "library" {
		return errors.New("library charts are not installable")
	}
	return nil
}

package helmcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
)

// maxReaders bounds the charts that are read or fetched at once. Each may take
// 100 MB of memory.
const maxReaders = 2

// UploadChart stores the archive of a chart, which can then be used in the scope,
// and returns its item in the list. It fails with an *helmtrail.InvalidError if the
// archive is not an installable chart, and with helmtrail.ErrUploadsFull if there
// is no room.
func (h *Helm) UploadChart(ctx context.Context, scope catalog.Scope, archive io.Reader) (*catalog.Item, error) {
	if h.config.Uploads == nil {
		return nil, invalid("chart", "uploads are disabled")
	}
	var read *chart.Chart
	digest, err := h.config.Uploads.Add(ctx, scope, archive, func(file string) (err error) {
		if read, err = h.readChart(ctx, file); err != nil {
			return invalid("chart", "must be a chart archive, as `helm package` creates it: "+oneLine(strings.ReplaceAll(err.Error(), file, "archive")))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	item := newItem(uploadPrefix+digest, catalog.FromUpload, read.Metadata)
	return &item, nil
}

// scopeOf returns the scope of the uploads that a release may use.
func scopeOf(release helmtrail.ReleaseRef) catalog.Scope {
	return catalog.Scope{Cluster: release.Cluster, Namespace: release.Namespace}
}

// uploadedChart finds an uploaded chart and marks it as used.
func (h *Helm) uploadedChart(scope catalog.Scope, ref string) (string, error) {
	if !uploadPattern.MatchString(ref) || h.config.Uploads == nil {
		return "", invalid("chart.ref", "must be the ref from the answer to the upload")
	}
	path, err := h.config.Uploads.Find(scope, strings.TrimPrefix(ref, uploadPrefix))
	if errors.Is(err, fs.ErrNotExist) {
		if scope.Namespace == "" {
			return "", missing("chart.ref", "this chart was uploaded to a namespace, or it was removed; name the namespace, or upload it again")
		}
		return "", missing("chart.ref", fmt.Sprintf("namespace %s has no such uploaded chart; upload it again", scope.Namespace))
	}
	return path, err
}

// linkUpload links an uploaded chart into a session's folder, since it may be
// removed before helm is run.
func (h *Helm) linkUpload(f folder, scope catalog.Scope, ref string) error {
	if !strings.HasPrefix(ref, uploadPrefix) {
		return nil
	}
	path, err := h.uploadedChart(scope, ref)
	if err != nil {
		return err
	}
	if err := os.Link(path, f.path(archiveFile)); err != nil {
		return fmt.Errorf("link the uploaded chart: %w", err)
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

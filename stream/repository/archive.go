package repository

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

const (
	// archiveTimeout bounds fetching an archive.
	archiveTimeout = time.Minute
	// maxArchive bounds an archive, in bytes, as it bounds an upload.
	maxArchive = 32 << 20
)

// Chart names a chart on a server.
type Chart struct {
	// Repo is a repository's URL, and Ref the name of a chart there. Without Repo,
	// Ref is the URL of an archive, or of a chart in a registry ("oci://").
	Repo, Ref string
	// Version is a version or a range of versions; "" is the newest release. It is
	// ignored for an archive.
	Version string
	Login   Login
	// LoginFor is the URL whose origin the login is for, "" for the chart's own.
	LoginFor string
}

// Fetch writes a chart's archive to a file. It blocks for at most a minute and a
// half. It fails with helmtrail.ErrNoChart if the chart cannot be fetched.
func (c *Client) Fetch(ctx context.Context, chart Chart, file string) error {
	if chart.LoginFor == "" {
		chart.LoginFor = chart.Ref
		if chart.Repo != "" {
			chart.LoginFor = chart.Repo
		}
	}
	if chart.Repo != "" {
		var err error
		if chart.Ref, err = c.locate(ctx, chart); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	var err error
	if strings.HasPrefix(chart.Ref, "oci://") {
		err = c.pull(ctx, chart, file)
	} else {
		err = c.download(ctx, chart, file)
	}
	if err != nil {
		return failed("fetch", chart.Ref, err)
	}
	return nil
}

// locate returns the URL of a chart's archive, or its address in a registry. It
// reads a fresh index, since the chart may have been added a moment ago.
func (c *Client) locate(ctx context.Context, chart Chart) (string, error) {
	index, _, err := c.fetchIndex(ctx, chart.Repo, chart.Login)
	if err != nil {
		return "", failed("read the index of", chart.Repo, err)
	}
	versions := make([]string, len(index[chart.Ref]))
	for i, entry := range index[chart.Ref] {
		versions[i] = entry.Version
	}
	at, err := newest(versions, chart.Version)
	if err != nil {
		return "", failed("find chart "+chart.Ref+" in", chart.Repo, err)
	}
	address := index[chart.Ref][at].URL
	if parsed, err := url.Parse(address); err != nil || parsed.Host == "" || parsed.User != nil || parsed.Scheme != "https" && parsed.Scheme != "http" && parsed.Scheme != "oci" {
		return "", failed("find chart "+chart.Ref+" in", chart.Repo, refusal("its index has no usable address for the chart"))
	}
	return address, nil
}

// newest returns the index of the highest version that is in a range, as helm
// chooses it: an exact match first, and pre-releases only if the range names them
// (helm.sh/helm/v3/pkg/repo/index.go).
func newest(versions []string, wanted string) (int, error) {
	if wanted == "" {
		wanted = "*"
	}
	allowed, err := semver.NewConstraint(wanted)
	if err != nil {
		return 0, refusal("the version is not a version or a range of versions")
	}
	found, highest := -1, (*semver.Version)(nil)
	for i, text := range versions {
		if text == wanted {
			return i, nil
		}
		v, err := semver.NewVersion(text)
		if err == nil && allowed.Check(v) && (highest == nil || v.GreaterThan(highest)) {
			found, highest = i, v
		}
	}
	if found < 0 {
		return 0, refusal("there is no such chart or version")
	}
	return found, nil
}

// download fetches the archive at a URL.
func (c *Client) download(ctx context.Context, chart Chart, file string) error {
	origin, err := url.Parse(chart.LoginFor)
	if err != nil {
		return refusal("it is not a URL")
	}
	v := c.visit(chart.Login, origin)
	defer v.close()
	body, err := v.get(ctx, chart.Ref)
	if err != nil {
		return err
	}
	defer body.Close()
	return store(body, file)
}

// store writes at most maxArchive bytes to a file.
func store(body io.Reader, file string) error {
	written, err := atomicfile.New(filepath.Dir(file), ".fetched-*")
	if err != nil {
		return err
	}
	defer written.Discard()
	n, err := io.Copy(written, io.LimitReader(body, maxArchive+1))
	if err != nil {
		return err
	}
	if n > maxArchive {
		return errTooLarge
	}
	return written.Replace(file)
}

var errTooLarge = refusal(fmt.Sprintf("the archive is larger than %d bytes", maxArchive))

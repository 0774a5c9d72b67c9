package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	// maxManifest bounds a manifest, in bytes.
	maxManifest = 4 << 20
	// maxTagPages bounds the pages of tags that are read, 4 MiB each.
	maxTagPages = 20
	// chartLayer and legacyLayer are the media types of charts
	// (helm.sh/helm/v3/pkg/registry/constants.go).
	chartLayer  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	legacyLayer = "application/tar+gzip"
)

// pull fetches a chart from a registry. The login goes to the registry, and to the
// token service that the registry names, if its host is allowed.
func (c *Client) pull(ctx context.Context, chart Chart, file string) error {
	repository, err := remote.NewRepository(strings.TrimPrefix(chart.Ref, "oci://"))
	if err != nil {
		return refusal("it is not the address of a chart in a registry")
	}
	host := repository.Reference.Host()
	origin := &url.URL{Scheme: "https", Host: host}
	given, err := url.Parse(chart.LoginFor)
	if err != nil {
		return refusal("it is not a URL")
	}
	login := chart.Login
	if chart.LoginFor != chart.Ref && !sameOrigin(given, origin) {
		login = Login{authorities: login.authorities}
	}
	v := c.visit(login, origin)
	defer v.close()
	client := &auth.Client{Client: v.client, Cache: auth.NewCache()}
	if login.username != "" {
		client.Credential = auth.StaticCredential(host, auth.Credential{Username: login.username, Password: login.password})
	}
	repository.Client, repository.TagListMaxPages = client, maxTagPages
	reference := repository.Reference.Reference
	if reference == "" {
		if reference, err = tagFor(ctx, repository, chart.Version); err != nil {
			return answered(err)
		}
	}
	layer, err := findLayer(ctx, repository, reference)
	if err != nil {
		return answered(err)
	}
	body, err := repository.Blobs().Fetch(ctx, layer)
	if err != nil {
		return answered(err)
	}
	defer body.Close()
	return store(&verified{content.NewVerifyReader(body, layer)}, file)
}

// tagFor returns the tag of a version. Only a range of versions needs the list of
// tags. Tags have an underscore in place of a plus sign.
func tagFor(ctx context.Context, repository *remote.Repository, version string) (string, error) {
	if _, err := semver.StrictNewVersion(version); err == nil {
		return strings.ReplaceAll(version, "+", "_"), nil
	}
	var tags, versions []string
	err := repository.Tags(ctx, "", func(page []string) error {
		for _, tag := range page {
			tags, versions = append(tags, tag), append(versions, strings.ReplaceAll(tag, "_", "+"))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	at, err := newest(versions, version)
	if err != nil {
		return "", err
	}
	return tags[at], nil
}

// findLayer returns the layer with the chart.
func findLayer(ctx context.Context, repository *remote.Repository, reference string) (ocispec.Descriptor, error) {
	var none ocispec.Descriptor
	found, body, err := repository.FetchReference(ctx, reference)
	if err != nil {
		return none, err
	}
	defer body.Close()
	if found.Size > maxManifest {
		return none, refusal(fmt.Sprintf("the manifest is larger than %d bytes", maxManifest))
	}
	data, err := content.ReadAll(body, found)
	if err != nil {
		return none, err
	}
	var manifest ocispec.Manifest
	if json.Unmarshal(data, &manifest) != nil {
		return none, refusal("the manifest cannot be read")
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType != chartLayer && layer.MediaType != legacyLayer {
			continue
		}
		if layer.Size > maxArchive {
			return none, errTooLarge
		}
		return layer, nil
	}
	return none, refusal("there is no chart")
}

// answered reduces a registry's error to its status.
func answered(err error) error {
	if response, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return status(response.StatusCode)
	}
	return err
}

// verified reads a layer and fails at its end unless the digest is right.
type verified struct{ layer *content.VerifyReader }

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.layer.Read(p)
	if errors.Is(err, io.EOF) && v.layer.Verify() != nil {
		return n, refusal("the archive does not have its digest")
	}
	return n, err
}

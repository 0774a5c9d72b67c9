package helmcli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/internal/bounded"
)

const (
	// fetchTimeout bounds fetching an index.
	fetchTimeout = 30 * time.Second
	// maxIndex bounds an index, in bytes.
	maxIndex = 64 << 20
	// indexLife is how long an index is cached.
	indexLife = 5 * time.Minute
	// failureLife is how long a failure is cached.
	failureLife = 15 * time.Second
	// maxIndexes bounds the cached indexes.
	maxIndexes = 1000
)

// index has the fields of a repository's index.yaml that lists need (helm.sh/helm/v3/pkg/repo has all of it, but imports helm's whole CLI).
type index struct {
	Entries map[string][]indexEntry `json:"entries"`
}

type indexEntry struct {
	Version     string `json:"version"`
	AppVersion  string `json:"appVersion"`
	Description string `json:"description"`
	Icon        string `json:"icon"`
	Deprecated  bool   `json:"deprecated"`
}

// fetchIndex returns a repository's index.yaml. It blocks for at most fetchTimeout.
// No error contains a credential.
func fetchIndex(ctx context.Context, address string, c credentials) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("%w: read the index of %s: %w", helmtrail.ErrNoChart, address, err)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	transport.TLSClientConfig = &tls.Config{}
	if c.authorities != nil {
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(c.authorities)
	}
	if c.certificate != nil {
		pair, err := tls.X509KeyPair(c.certificate, c.key)
		if err != nil {
			return fail(errors.New("the client certificate does not match its key"))
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/index.yaml", nil)
	if err != nil {
		return fail(err)
	}
	if c.username != "" {
		request.SetBasicAuth(c.username, c.password)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("the server answered %s", response.Status))
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxIndex+1))
	if err != nil {
		return fail(err)
	}
	if len(data) > maxIndex {
		return fail(fmt.Errorf("it is larger than %d bytes", maxIndex))
	}
	return data, nil
}

func readIndex(ctx context.Context, address string) (*index, error) {
	data, err := fetchIndex(ctx, address, credentials{})
	if err != nil {
		return nil, err
	}
	read := &index{}
	if err := yaml.Unmarshal(data, read); err != nil {
		return nil, fmt.Errorf("%w: the index of %s is not the YAML of a chart repository", helmtrail.ErrNoChart, address)
	}
	return read, nil
}

// indexes caches the configured repositories' indexes, and failures to read one.
type indexes struct {
	cached *bounded.Cache[indexResult]
	calls  singleflight.Group
}

// indexResult is a repository's index, or why it cannot be read.
type indexResult struct {
	index *index
	err   error
}

// newIndexes returns an empty cache.
func newIndexes() *indexes {
	return &indexes{cached: bounded.New(bounded.Options[indexResult]{Limit: maxIndexes, Life: indexLife})}
}

// get returns a repository's index. Concurrent callers share one request, which
// continues when one of them leaves.
func (i *indexes) get(ctx context.Context, address string) (*index, error) {
	if cached, ok := i.cached.Get(address); ok {
		return cached.index, cached.err
	}
	answer := i.calls.DoChan(address, func() (any, error) {
		read, err := readIndex(context.WithoutCancel(ctx), address)
		if err != nil {
			i.cached.AddFor(address, indexResult{err: err}, failureLife)
			return nil, err
		}
		i.cached.Add(address, indexResult{index: read})
		return read, nil
	})
	select {
	case a := <-answer:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*index), nil
	case <-ctx.Done():
		return nil, errors.Join(helmtrail.ErrNoChart, ctx.Err())
	}
}

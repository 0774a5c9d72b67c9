package repository

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
)

const (
	// indexTimeout bounds fetching an index.
	indexTimeout = 30 * time.Second
	// maxIndex bounds an index, in bytes.
	maxIndex = 64 << 20
	// indexLife is how long an index is cached, failureLife how long a failure is.
	indexLife   = 5 * time.Minute
	failureLife = 15 * time.Second
)

// errNotIndex leaves out the decoder's error, which quotes the text.
const errNotIndex = refusal("its index.yaml is not the index of a chart repository")

// cachedIndex is a repository's index, or why it cannot be read.
type cachedIndex struct {
	index catalog.Index
	bytes int
	err   error
}

// Index returns a repository's index, from the cache if it is not older than five
// minutes. The login is part of the cache's key, so that nobody is shown what
// another login gives access to. Concurrent callers share one request, which
// continues when one of them leaves.
func (c *Client) Index(ctx context.Context, address string, secret map[string][]byte) (catalog.Index, error) {
	key, err := json.Marshal(secret) // its keys are sorted
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", address, err)
	}
	sum := sha256.Sum256(append([]byte(address+"\n"), key...))
	id := string(sum[:])
	if cached, ok := c.indexes.Get(id); ok {
		return cached.index, cached.err
	}
	answer := c.calls.DoChan(id, func() (any, error) {
		read, life := c.readIndex(context.WithoutCancel(ctx), address, secret), indexLife
		if read.err != nil {
			life = failureLife
		}
		c.indexes.AddFor(id, read, life)
		return read.index, read.err
	})
	select {
	case a := <-answer:
		index, _ := a.Val.(catalog.Index)
		return index, a.Err
	case <-ctx.Done():
		return nil, errors.Join(helmtrail.ErrNoChart, ctx.Err())
	}
}

func (c *Client) readIndex(ctx context.Context, address string, secret map[string][]byte) cachedIndex {
	var login Login
	if secret != nil {
		var err error
		if login, err = ReadLogin(secret); err != nil {
			return cachedIndex{err: fmt.Errorf("%w: the login %w", helmtrail.ErrNoChart, err)}
		}
	}
	index, size, err := c.fetchIndex(ctx, address, login)
	if err != nil {
		err = failed("read the index of", address, err)
	}
	return cachedIndex{index: index, bytes: size, err: err}
}

// fetchIndex fetches an index and decodes it.
func (c *Client) fetchIndex(ctx context.Context, address string, login Login) (catalog.Index, int, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	base, err := url.Parse(strings.TrimSuffix(address, "/") + "/")
	if err != nil {
		return nil, 0, refusal("it is not a URL")
	}
	v := c.visit(login, base)
	defer v.close()
	body, err := v.get(ctx, base.JoinPath("index.yaml").String())
	if err != nil {
		return nil, 0, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxIndex+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > maxIndex {
		return nil, 0, refusal(fmt.Sprintf("it is larger than %d bytes", maxIndex))
	}
	c.decode.Lock()
	defer c.decode.Unlock()
	index, err := decodeIndex(data, base)
	return index, len(data), err
}

// decodeIndex decodes an index and makes the URLs in it absolute.
func decodeIndex(data []byte, base *url.URL) (catalog.Index, error) {
	var raw struct {
		Entries map[string][]map[string]any `json:"entries"`
	}
	if yaml.Unmarshal(data, &raw) != nil {
		return nil, errNotIndex
	}
	index := make(catalog.Index, len(raw.Entries))
	for name, versions := range raw.Entries {
		for _, fields := range versions {
			urls, _ := fields["urls"].([]any)
			for i, one := range urls {
				text, _ := one.(string)
				if relative, err := url.Parse(text); err == nil {
					urls[i] = base.ResolveReference(relative).String()
				}
			}
			content, err := json.Marshal(fields)
			if err != nil {
				return nil, errNotIndex
			}
			entry := catalog.Entry{Content: content}
			text := func(key string) string {
				value, _ := fields[key].(string)
				return value
			}
			entry.Version, entry.AppVersion, entry.KubeVersion = text("version"), text("appVersion"), text("kubeVersion")
			entry.Description, entry.Icon = text("description"), text("icon")
			entry.Deprecated, _ = fields["deprecated"].(bool)
			if len(urls) > 0 {
				entry.URL, _ = urls[0].(string)
			}
			index[name] = append(index[name], entry)
		}
	}
	return index, nil
}

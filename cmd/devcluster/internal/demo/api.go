package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// api is a client of helmtrail's HTTP API.
type api struct {
	base    string
	cluster string
}

// accepted is helmtrail's response to a request that starts an operation.
type accepted struct {
	SessionID string `json:"sessionId"`
}

// session is the part of a session that the demo reads.
type session struct {
	State string `json:"state"`
	End   *struct {
		Message string `json:"message"`
	} `json:"end"`
}

const (
	running   = "running"
	completed = "completed"
)

// ready blocks until helmtrail is ready, and sets the cluster's id.
func (a *api) ready(ctx context.Context) error {
	err := a.repeat(ctx, "helmtrail to be ready", func() (bool, error) {
		return true, a.call(ctx, http.MethodGet, "/readyz", nil, nil)
	})
	if err != nil {
		return err
	}
	var clusters struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if err := a.call(ctx, http.MethodGet, "/clusters", nil, &clusters); err != nil {
		return err
	}
	if len(clusters.Items) != 1 {
		return fmt.Errorf("helmtrail watches %d clusters, want 1", len(clusters.Items))
	}
	a.cluster = clusters.Items[0].ID
	return nil
}

func (a *api) releases(namespace string) string {
	return fmt.Sprintf("/%s/namespaces/%s/releases", a.cluster, namespace)
}

// finish blocks until a session has ended, and returns it.
func (a *api) finish(ctx context.Context, release, id string) (session, error) {
	var s session
	err := a.repeat(ctx, "session "+id, func() (bool, error) {
		err := a.call(ctx, http.MethodGet, release+"/sessions/"+id, nil, &s)
		return s.State != running, err
	})
	return s, err
}

// repeat calls check until it returns done without an error. A server that is
// starting may fail for a while.
func (a *api) repeat(ctx context.Context, what string, check func() (done bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		done, err := check()
		if done && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last error: %v)", what, ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// call sends body as JSON and decodes the response into result. Either may be nil.
func (a *api) call(ctx context.Context, method, path string, body, result any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(text))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

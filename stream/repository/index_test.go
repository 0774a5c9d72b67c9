package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/repository"
)

// An index is cached and shared by all callers with the same login.
func TestIndexesAreCached(t *testing.T) {
	server := serve(t, false, nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if server.Requests.Add(1) > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `apiVersion: v1
entries:
  web:
  - {name: web, version: 2.0.0, kubeVersion: ">=1.99", urls: [web-2.0.0.tgz]}
  - {name: web, version: 1.0.0, urls: ["https://elsewhere.example.com/web-1.0.0.tgz"], unknown: kept}
  -
`)
	})
	c := clientFor(t, server.Host())
	for range 3 {
		index, err := c.Index(t.Context(), server.URL+"/stable", nil)
		if err != nil || len(index["web"]) != 3 {
			t.Fatalf("the index is %+v, %v", index, err)
		}
		first, second := index["web"][0], index["web"][1]
		if first.URL != server.URL+"/stable/web-2.0.0.tgz" || first.KubeVersion != ">=1.99" || !strings.Contains(string(second.Content), `"unknown":"kept"`) || second.URL != "https://elsewhere.example.com/web-1.0.0.tgz" {
			t.Errorf("the index is %+v", index)
		}
	}
	c = clientFor(t, server.Host())
	for range 3 {
		if _, err := c.Index(t.Context(), server.URL+"/stable", nil); !errors.Is(err, helmtrail.ErrNoChart) || !strings.Contains(err.Error(), "500") {
			t.Errorf("got %v, want an error with the server's status 500", err)
		}
	}
	if n := server.Requests.Load(); n != 2 {
		t.Errorf("the server was asked %d times, want 2", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clientFor(t, server.Host()).Index(ctx, server.URL, nil); err == nil {
		t.Error("a caller that has left got an answer")
	}
}

// The version is chosen as helm chooses it.
func TestTheNewestVersionInTheRangeIsFetched(t *testing.T) {
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/index.yaml" {
			fmt.Fprint(w, r.URL.Path)
			return
		}
		fmt.Fprint(w, "entries:\n  web:\n")
		for _, v := range []string{"1.0.0", "2.0.0-rc.1", "1.10.0", "1.9.0", "not-a-version", "2.0.0+build"} {
			fmt.Fprintf(w, "  - {version: %q, urls: [%q]}\n", v, v)
		}
		fmt.Fprint(w, "  file:\n  - {version: 1.0.0, urls: ['file:///etc/passwd']}\n")
	})
	c := clientFor(t, server.Host())
	for wanted, got := range map[string]string{"": "2.0.0+build", "^1": "1.10.0", "1.9.0": "1.9.0", "2.0.0-rc.1": "2.0.0-rc.1", ">1.0.0 <1.10.0": "1.9.0", "not-a-version": ""} {
		data, err := fetch(t, c, repository.Chart{Ref: "web", Repo: server.URL, Version: wanted})
		if got != "" && (err != nil || data != "/"+got) || got == "" && err == nil {
			t.Errorf("%q: %q, %v, want %q", wanted, data, err, got)
		}
	}
	refused(t, c, repository.Chart{Ref: "web", Repo: server.URL, Version: "^9"}, "no such chart or version")
	refused(t, c, repository.Chart{Ref: "absent", Repo: server.URL}, "absent")
	refused(t, c, repository.Chart{Ref: "file", Repo: server.URL}, "no usable address")
}

package repository_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helmtrail/helmtrail/stream/repository"
)

// endless sends bytes until the client leaves.
func endless(w http.ResponseWriter, sent *atomic.Int64) {
	part := make([]byte, 1<<16)
	for {
		n, err := w.Write(part)
		sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func TestAnswersAreBoundedInBytes(t *testing.T) {
	var sent atomic.Int64
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/headers" {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}
		endless(w, &sent)
	})
	c := clientFor(t, server.Host())
	refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "larger than 33554432 bytes")
	refused(t, c, repository.Chart{Ref: "web", Repo: server.URL}, "larger than 67108864 bytes")
	refused(t, c, repository.Chart{Ref: server.URL + "/headers"}, "")
	const buffers = 32 << 20 // in the kernel
	if n := sent.Load(); n > 96<<20+buffers {
		t.Errorf("%d bytes were sent", n)
	}
}

// Slow downloads of one user hold up nobody else, and end when the caller leaves.
func TestSlowDownloadsHoldUpTheirUserOnly(t *testing.T) {
	begun := make(chan struct{}, 10)
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			begun <- struct{}{}
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "archive")
	})
	c := clientFor(t, server.Host())
	slow, leave := context.WithCancel(t.Context())
	var downloads sync.WaitGroup
	for i := range 10 {
		file := filepath.Join(t.TempDir(), "chart.tgz")
		downloads.Go(func() {
			release, err := c.Take(slow, "slow")
			if err != nil {
				return // its turn did not come
			}
			defer release()
			if err := c.Fetch(slow, repository.Chart{Ref: fmt.Sprintf("%s/slow-%d", server.URL, i)}, file); err == nil {
				t.Error("a download without an end has ended")
			}
		})
	}
	for range 4 {
		<-begun
	}
	release, err := c.Take(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fetch(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}); err != nil || data != "archive" {
		t.Errorf("the other user got %q, %v", data, err)
	}
	release()
	if n := server.Requests.Load(); n != 5 {
		t.Errorf("the server was asked %d times, want 4 slow downloads and 1 other", n)
	}
	leave()
	downloads.Wait()
}

// A server that is not a chart server cannot be read through an error.
func TestErrorsQuoteNothingOfTheAnswer(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter){
		"YAML": func(w http.ResponseWriter) { fmt.Fprintf(w, "%s: [1, 2\n", marker) },
		"JSON": func(w http.ResponseWriter) { fmt.Fprintf(w, `{"entries": {"web": "%s"}}`, marker) },
		"500":  func(w http.ResponseWriter) { http.Error(w, marker, http.StatusInternalServerError) },
		"OCI error": func(w http.ResponseWriter) {
			w.WriteHeader(404)
			fmt.Fprintf(w, `{"errors":[{"code":"%s","message":"%s"}]}`, marker, marker)
		},
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "http://[::1%"+marker); w.WriteHeader(302) },
		"protocol": func(w http.ResponseWriter) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			fmt.Fprintf(connection, "SSH-2.0-%s\r\n", marker)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
			c := clientFor(t, server.Host())
			refused(t, c, repository.Chart{Ref: "web", Repo: server.URL}, "")
			if _, err := c.Index(t.Context(), server.URL, nil); err == nil || strings.Contains(err.Error(), marker) {
				t.Errorf("the index: %v", err)
			}
			if name != "YAML" && name != "JSON" {
				refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "")
			}
			secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
			secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			secure.StartTLS()
			defer secure.Close()
			login, err := repository.ReadLogin(map[string][]byte{"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})})
			if err != nil {
				t.Fatal(err)
			}
			address, err := url.Parse(secure.URL)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, clientFor(t, address.Host), repository.Chart{Ref: "oci://" + address.Host + "/team/web", Login: login}, "")
		})
	}
}

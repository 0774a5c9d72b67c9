package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// shared has the servers that tests share. Each server watches everything that
// all tests do in the cluster, so every additional server slows all of them down.
// The variable is global because it belongs to the process: tests use it, and
// TestMain stops it.
var shared sharedServers

// sharedServers are running servers, by Helm and additional flags. A server is
// started for the first test that needs it.
type sharedServers struct {
	mu      sync.Mutex
	folder  string // charts and data
	servers map[string]*sharedServer
}

type sharedServer struct {
	*serving
	logs *logBuffer
}

// on returns a server that other tests use at the same time. It has the charts of
// sharedCharts and needs no login. A test must not stop it, and must look only at
// its own namespaces.
func (s *sharedServers) on(t *testing.T, helm string) *server {
	t.Helper()
	return s.with(t, helm)
}

// withLogin is on for a server with login.
func (s *sharedServers) withLogin(t *testing.T) *server {
	t.Helper()
	return s.with(t, clustertest.Binary(t, "helm4"), "--auth", "kubernetes")
}

func (s *sharedServers) with(t *testing.T, helm string, flags ...string) *server {
	t.Helper()
	running, err := s.start(t, helm, flags)
	if err != nil {
		t.Fatal(err)
	}
	h := &server{client: &http.Client{}, stop: func() { t.Error("a test stops a shared server") }}
	t.Cleanup(func() { h.client.CloseIdleConnections() })
	h.at(t, running.line)
	h.waitReady(t)
	return h
}

func (s *sharedServers) start(t *testing.T, helm string, flags []string) (*sharedServer, error) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.Join(append([]string{helm}, flags...), " ")
	if running := s.servers[key]; running != nil {
		return running, nil
	}
	if s.servers == nil {
		s.servers = map[string]*sharedServer{}
		folder, err := os.MkdirTemp("", "helmtrail-shared-")
		if err != nil {
			return nil, err
		}
		s.folder = folder
		if err := sharedCharts(t, s.charts()); err != nil {
			return nil, err
		}
	}
	a := arguments{helm: helm, charts: s.charts(), dataDir: filepath.Join(s.folder, fmt.Sprint("data-", len(s.servers))), more: flags}
	logs := &logBuffer{}
	started, err := startServing(a.withDefaults(t), logs)
	if err != nil {
		return nil, fmt.Errorf("%w:\n%s", err, logs)
	}
	running := &sharedServer{started, logs}
	s.servers[key] = running
	return running, nil
}

// charts returns the folder of the servers' charts.
func (s *sharedServers) charts() string { return filepath.Join(s.folder, "charts") }

// sharedCharts writes the charts that a shared server can install: web, audited,
// and those of testdata/charts. A test may add charts with other names to the
// folder.
func sharedCharts(t *testing.T, folder string) error {
	t.Helper()
	return errors.Join(
		os.CopyFS(filepath.Join(folder, "web"), os.DirFS(clustertest.Chart(t))),
		os.CopyFS(filepath.Join(folder, "audited"), os.DirFS(auditedChart(t, valuePassword))),
		os.CopyFS(folder, os.DirFS(charts)),
	)
}

// stop stops the servers. It prints their logs if a test has failed.
func (s *sharedServers) stop(failed bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for flags, running := range s.servers {
		if code := running.stop(); code != 0 {
			failures = append(failures, fmt.Errorf("serve with %s ended with %d", flags, code))
			failed = true
		}
		if failed {
			fmt.Fprintf(os.Stderr, "the log of the shared server with %s:\n%s\n", flags, running.logs)
		}
	}
	if s.folder != "" {
		failures = append(failures, os.RemoveAll(s.folder))
	}
	return errors.Join(failures...)
}

// Package repositorytest has the chart server that tests of fetching use.
package repositorytest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Server is an HTTP server that counts its requests, and those with a login.
type Server struct {
	*httptest.Server
	Requests, Logins atomic.Int64
}

// Serve runs a server, over TLS if secure, until the test ends.
func Serve(t testing.TB, secure bool, handler http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Requests.Add(1)
		if r.Header.Get("Authorization") != "" {
			s.Logins.Add(1)
		}
		handler(w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// Host returns the server's host and port.
func (s *Server) Host() string { return s.Listener.Addr().String() }

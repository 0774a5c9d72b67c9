package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"
)

const (
	// headerTimeout bounds the time for reading a request's header.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long an idle connection stays open.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds a request's header, in bytes. Tokens and the cookies of
	// many clusters fit.
	maxHeader = 128 << 10
	// certificateCheck is the shortest time between two checks of the
	// certificate's files.
	certificateCheck = 5 * time.Second
)

// newHTTPServer returns a server for HTTP/1.1 and HTTP/2, with and without TLS. It
// has no timeout for whole requests, which would cut streams; the handler bounds
// the others.
func newHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog:  slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	return server
}

// serveHTTP serves until the server is shut down; certificate is nil without TLS.
func serveHTTP(server *http.Server, listener net.Listener, certificate *certificate) error {
	if certificate == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	return server.ServeTLS(listener, "", "")
}

// certificate is the server's TLS certificate. It is reloaded when its files change.
type certificate struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamps  [2]stamp
	checked time.Time
}

// stamp identifies a version of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// loadCertificate loads a certificate. It fails if the key does not match.
func loadCertificate(certFile, keyFile string, logger *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, logger: logger}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificate) load() error {
	stamps, err := c.look()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("load the certificate: %w", err)
	}
	c.current, c.stamps, c.checked = &pair, stamps, time.Now()
	return nil
}

func (c *certificate) look() (stamps [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamps, fmt.Errorf("load the certificate: %w", err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}

// get returns the certificate for a handshake. If the files cannot be loaded, for
// example while they are being replaced, the previous certificate stays in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) < certificateCheck {
		return c.current, nil
	}
	c.checked = time.Now()
	stamps, err := c.look()
	if err == nil && stamps != c.stamps {
		if err = c.load(); err == nil {
			c.logger.Info("reloaded the TLS certificate")
		}
	}
	if err != nil {
		c.logger.Warn("could not reload the TLS certificate, keeping the previous one", "error", err)
	}
	return c.current, nil
}

// profiles serves Go's profiles.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

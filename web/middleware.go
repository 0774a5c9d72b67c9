package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// recoverPanics answers 500 if a handler panics. It logs no value of the request.
// A panic's text may quote one, so only the texts of Go's runtime errors are
// logged.
func (s *Server) recoverPanics(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		err, _ := p.(error)
		if errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		text := fmt.Sprintf("%T", p)
		var failure runtime.Error
		if errors.As(err, &failure) {
			text = failure.Error()
		}
		s.logger.Error("a handler panicked", "method", c.Request.Method, "route", c.FullPath(), "panic", text, "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		writeError(c, httpapi.ErrInternal)
		c.Abort()
	}()
	c.Next()
}

// protect sets security headers and rejects requests that a browser sends for
// another site's page.
func (s *Server) protect(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Referrer-Policy", "same-origin")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Cross-Origin-Opener-Policy", "same-origin")
	c.Header("X-Frame-Options", "DENY")
	// Pages replace this policy. No other response may be displayed as a page.
	c.Header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if c.Request.TLS != nil {
		c.Header("Strict-Transport-Security", "max-age=31536000")
	}
	if s.options.LocalOnly && !s.local(c.Request.Host) {
		writeError(c, httpapi.Forbidden("This server requires no login, so it answers only to loopback names and addresses."))
		c.Abort()
		return
	}
	if s.origins.Check(c.Request) != nil {
		writeError(c, httpapi.Forbidden("The request comes from another site's page."))
		c.Abort()
	}
}

// local reports whether a Host header is a loopback name or a configured one.
func (s *Server) local(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.options.Hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
